internal import Glibc

/// The decimal digits of a number. Spreadsheets keep fifteen: 2.675 is rounded to 2.68.
struct DecimalDigits {
  let isNegative: Bool
  /// The digits from the first nonzero one on, without zeros at the end. Empty for zero. Values, not characters.
  private(set) var digits: [UInt8]
  /// The number of digits before the point. 0.05 has -1.
  private(set) var exponent: Int

  private static let precision = 15

  init(_ value: Double) {
    isNegative = value < 0
    var buffer = [CChar](repeating: 0, count: 40)
    _ = unsafe withVaList([abs(value)]) { unsafe vsnprintf(&buffer, buffer.count, "%.\(Self.precision - 1)e", $0) }
    let text = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let mark = text.firstIndex(of: 0x65) ?? text.endIndex
    digits = text[..<mark].filter { (0x30...0x39).contains($0) }.map { $0 - 0x30 }
    exponent = (Int(String(decoding: text[mark...].dropFirst(), as: UTF8.self)) ?? 0) + 1
    trim()
  }

  private mutating func trim() {
    while digits.last == 0 { digits.removeLast() }
    if digits.isEmpty { exponent = 0 }
  }

  /// Returns the number with its point moved.
  func shifted(by places: Int) -> DecimalDigits {
    var other = self
    if !digits.isEmpty { other.exponent += places }
    return other
  }

  /// Returns the number rounded to `places` digits after the point, half away from zero.
  func rounded(to places: Int) -> DecimalDigits {
    var other = self
    let kept = exponent + places
    guard kept < digits.count else { return self }
    let isUp = kept >= 0 && digits[kept] >= 5
    other.digits = Array(digits.prefix(max(0, kept)))
    if isUp {
      var index = other.digits.count - 1
      while index >= 0, other.digits[index] == 9 {
        other.digits[index] = 0
        index -= 1
      }
      if index >= 0 {
        other.digits[index] += 1
      } else {
        other.digits.insert(1, at: 0)
        other.exponent += 1
      }
    }
    other.trim()
    return other
  }

  /// The digits before the point, as characters. Empty for numbers below one.
  var whole: [UInt8] {
    guard exponent > 0 else { return [] }
    return (0..<min(exponent, 400)).map { $0 < digits.count ? digits[$0] + 0x30 : 0x30 }
  }

  /// Returns the first `places` digits after the point, as characters.
  func fraction(_ places: Int) -> [UInt8] {
    (0..<max(0, places)).map { place in
      let index = exponent + place
      return digits.indices.contains(index) ? digits[index] + 0x30 : 0x30
    }
  }

  /// The number as cells without a format show it, with at most ten digits after the point.
  var general: String {
    if digits.isEmpty { return "0" }
    let sign = isNegative ? "-" : ""
    if exponent > 15 || exponent < -8 {
      let mantissa = shifted(by: 1 - exponent).rounded(to: 5)
      // Rounding may have added a digit.
      let power = exponent - 1 + (mantissa.exponent - 1)
      let shown = mantissa.shifted(by: 1 - mantissa.exponent)
      let number = power < 0 ? "-\(-power < 10 ? "0" : "")\(-power)" : "+\(power < 10 ? "0" : "")\(power)"
      return sign + shown.plain(5) + "E" + number
    }
    return sign + rounded(to: 10).plain(10)
  }

  private func plain(_ places: Int) -> String {
    let whole = whole.isEmpty ? [0x30] : whole
    var behind = fraction(places)
    while behind.last == 0x30 { behind.removeLast() }
    return String(decoding: behind.isEmpty ? whole : whole + [0x2e] + behind, as: UTF8.self)
  }
}
