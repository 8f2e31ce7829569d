/// A number in the format of a section of a format code.
struct NumberText {
  private let section: FormatSection
  private let value: DecimalDigits
  private typealias Token = FormatSection.Token

  init(_ section: FormatSection, _ value: DecimalDigits) {
    self.section = section
    self.value = value
  }

  var text: String {
    if section.tokens.isEmpty { return "" }
    if section.tokens.contains(.general) { return generalText }
    if section.tokens.contains(.slash), let fraction = fractionText { return fraction }
    let tokens = section.tokens
    let mark = tokens.firstIndex { if case .exponent = $0 { true } else { false } } ?? tokens.endIndex
    let point = tokens[..<mark].firstIndex(of: .point) ?? mark
    let whole = tokens[..<point]
    let behind = tokens[min(point + 1, mark)..<mark]
    let places = behind.count(where: \.isDigit)
    var value = value.shifted(by: 2 * tokens.count { $0 == .percent })
    // Each comma after the last digit divides by a thousand.
    if let last = tokens[..<mark].lastIndex(where: \.isDigit) {
      value = value.shifted(by: -3 * tokens[(last + 1)..<mark].prefix { $0 == .comma }.count)
    }
    guard mark < tokens.endIndex else {
      value = value.rounded(to: places)
      return wholeText(whole, value) + (point < mark ? "." : "") + behindText(behind, value)
    }
    return scientific(whole, behind, places, point < mark, value, tokens[mark...])
  }

  private var generalText: String {
    section.tokens.reduce(into: "") { text, token in
      switch token {
      case .literal(let words): text += words
      case .general: text += value.general
      case .percent: text += "%"
      default: break
      }
    }
  }

  /// Returns the digits before the point, filled in from the right. The first placeholder takes all that are left.
  private func wholeText(_ tokens: ArraySlice<Token>, _ value: DecimalDigits) -> String {
    let places = tokens.indices.filter { tokens[$0].isDigit }
    let isGrouped = places.count > 1 && tokens[places[0]..<places[places.count - 1]].contains(.comma)
    var left = value.whole
    var pieces: [String] = []
    var written = 0
    func put(_ digit: UInt8) {
      if isGrouped, written > 0, written % 3 == 0 { pieces.append(",") }
      pieces.append(String(UnicodeScalar(digit)))
      written += 1
    }
    for index in tokens.indices.reversed() {
      switch tokens[index] {
      case .digit(let kind):
        if let digit = left.popLast() {
          put(digit)
        } else if kind == 0x30 {
          put(0x30)
        } else if kind == 0x3f {
          pieces.append(" ")
        }
        if index == places[0] { while let digit = left.popLast() { put(digit) } }
      case .literal(let words): pieces.append(words)
      case .percent: pieces.append("%")
      default: break
      }
    }
    // A format such as `.00` has no placeholder for them.
    if places.isEmpty, !left.isEmpty, section.hasDigits {
      pieces.append(String(decoding: left, as: UTF8.self))
    }
    return pieces.reversed().joined()
  }

  private func behindText(_ tokens: ArraySlice<Token>, _ value: DecimalDigits) -> String {
    let digits = value.fraction(tokens.count(where: \.isDigit))
    let used = digits.lastIndex { $0 != 0x30 }.map { $0 + 1 } ?? 0
    var (text, place) = ("", 0)
    for token in tokens {
      switch token {
      case .digit(let kind):
        if place < used || kind == 0x30 {
          text += String(UnicodeScalar(digits[place]))
        } else if kind == 0x3f {
          text += " "
        }
        place += 1
      case .literal(let words): text += words
      case .percent: text += "%"
      default: break
      }
    }
    return text
  }

  private func scientific(
    _ whole: ArraySlice<Token>, _ behind: ArraySlice<Token>, _ places: Int, _ hasPoint: Bool, _ value: DecimalDigits,
    _ tail: ArraySlice<Token>
  ) -> String {
    let width = max(1, whole.count(where: \.isDigit))
    var power = value.exponent - 1
    if value.digits.isEmpty { power = 0 }
    // Powers are multiples of the number of digits before the point.
    power -= ((power % width) + width) % width
    var mantissa = value.shifted(by: -power).rounded(to: places)
    if mantissa.exponent > width {
      power += width
      mantissa = value.shifted(by: -power).rounded(to: places)
    }
    var digits = String(abs(power))
    let least = tail.count(where: \.isDigit)
    digits = String(repeating: "0", count: max(0, least - digits.utf8.count)) + digits
    let isSigned = tail.first == .exponent(isSigned: true)
    var text = wholeText(whole, mantissa) + (hasPoint ? "." : "") + behindText(behind, mantissa)
    text += "E" + (power < 0 ? "-" : isSigned ? "+" : "") + digits
    for case .literal(let words) in tail { text += words }
    return text
  }

  /// The number as a fraction in a format such as `# ?/?` or `?/8`. `nil` if the format is not a fraction.
  private var fractionText: String? {
    let tokens = section.tokens
    guard let slash = tokens.firstIndex(of: .slash), let first = tokens.firstIndex(where: \.isDigit), first < slash
    else {
      return nil
    }
    let number = Double(
      String(decoding: value.whole, as: UTF8.self) + "." + String(decoding: value.fraction(15), as: UTF8.self))
    guard let number = number ?? Double("0." + String(decoding: value.fraction(15), as: UTF8.self)) else { return nil }
    let hasWhole = tokens[first..<slash].contains { if case .literal = $0 { true } else { false } }
    let rest = tokens[(slash + 1)...]
    var best: (top: Double, bottom: Int) = (0, 1)
    if case .literal(let words)? = rest.first, let bottom = Int(words), bottom > 0 {
      best = ((number * Double(bottom)).rounded(), bottom)
    } else {
      let most = [1, 9, 99, 999][min(3, rest.count(where: \.isDigit))]
      var error = Double.infinity
      for bottom in 1...most {
        let top = (number * Double(bottom)).rounded()
        let distance = abs(number - top / Double(bottom))
        if distance < error - 1e-12 { (error, best) = (distance, (top, bottom)) }
      }
    }
    guard best.top < 1e15 else { return nil }
    let top = Int(best.top)
    guard hasWhole else { return "\(top)/\(best.bottom)" }
    let (wholes, left) = top.quotientAndRemainder(dividingBy: best.bottom)
    if left == 0 { return String(wholes) }
    return (wholes > 0 ? "\(wholes) " : "") + "\(left)/\(best.bottom)"
  }
}

extension FormatSection.Token {
  fileprivate var isDigit: Bool { if case .digit = self { true } else { false } }
}
