internal import Text

/// Sanitizes a style sheet, or declarations, so that it loads nothing (CSS Syntax Level 3).
///
/// URLs lead to files of the message, contain their data, or lead nowhere; `@import` is removed. The output has no `<`
/// before anything that could be a tag, so it is text in any context. O(n); no input is an error.
struct SafeStyle {
  private let css: [UInt8]
  private let links: ContentLinks
  private var output: [UInt8] = []

  static func made(_ css: [UInt8], _ links: ContentLinks) -> [UInt8] {
    var reader = SafeStyle(css, links)
    reader.read()
    return reader.output
  }

  private init(_ css: [UInt8], _ links: ContentLinks) {
    self.css = css.contains(0) ? css.filter { $0 != 0 } : css
    self.links = links
    output.reserveCapacity(css.count)
  }

  private mutating func read() {
    var index = 0
    while index < css.count {
      let byte = css[index]
      switch byte {
      case 0x2f where next(index) == 0x2a:
        index = endOfComment(from: index)
        // An empty comment keeps adjacent tokens apart.
        output += "/**/".utf8
      case 0x22, 0x27:
        let string = string(at: index)
        write(string)
        index = string.end
      case 0x40: index = rule(at: index)
      case 0x3c:
        // Browsers skip `<!--`; any other `<` is a comparison.
        let isMark = css[index...].starts(with: "<!--".utf8)
        let isApart = next(index).map { $0 == 0x3d || Self.isSpace($0) } ?? false
        if !isMark { output += isApart ? [0x3c] : [0x3c, 0x20] }
        index += isMark ? 4 : 1
      case 0x2d where css[index...].starts(with: "-->".utf8): index += 3
      case _ where startsName(at: index): index = word(at: index)
      default:
        output.append(byte)
        index += 1
      }
    }
  }

  private func next(_ index: Int) -> UInt8? { index + 1 < css.count ? css[index + 1] : nil }

  private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0c || byte == 0x0d }
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || isBreak(byte) }

  private func endOfComment(from start: Int) -> Int {
    var index = start + 2
    while let star = css[min(index, css.count)...].firstIndex(of: 0x2a) {
      if next(star) == 0x2f { return star + 2 }
      index = star + 1
    }
    return css.count
  }

  // MARK: Escapes

  /// Returns the bytes of the escape at `index` (§4.3.7), a backslash. Returns `nil` at the end of a line, which is not
  /// an escape.
  private func escape(at index: Int) -> (bytes: [UInt8], end: Int)? {
    guard let first = next(index) else { return ([], css.count) }
    if Self.isBreak(first) { return nil }
    var value: UInt32 = 0
    var end = index + 1
    while end < css.count, end <= index + 6, let digit = css[end].hexValue {
      value = value << 4 | UInt32(digit)
      end += 1
    }
    guard end > index + 1 else { return ([first], index + 2) }
    if end + 1 < css.count, css[end] == 0x0d, css[end + 1] == 0x0a { end += 1 }
    if end < css.count, Self.isSpace(css[end]) { end += 1 }
    let scalar = value == 0 ? nil : Unicode.Scalar(value)
    return (Array(String(scalar ?? "\u{fffd}").utf8), end)
  }

  /// Writes the content of a string or a name unchanged, except a `<`, with or without a backslash, as an escape. A
  /// trailing backslash is removed: it would affect what follows.
  private mutating func write(escaping range: Range<Int>) {
    var index = range.lowerBound
    while index < range.upperBound {
      let isEscape = css[index] == 0x5c && index + 1 < range.upperBound
      let byte = isEscape ? css[index + 1] : css[index]
      if byte == 0x3c {
        output += "\\3c ".utf8
      } else if isEscape {
        output += [0x5c, byte]
      } else if byte != 0x5c {
        output.append(byte)
      }
      index += isEscape ? 2 : 1
    }
  }

  // MARK: Strings

  private struct Text {
    let range: Range<Int>
    let quote: UInt8
    let value: [UInt8]
    /// Whether the closing quotation mark is present, rather than implied by the sheet's end.
    let isClosed: Bool
    let end: Int
  }

  private func string(at start: Int) -> Text {
    let quote = css[start]
    var value: [UInt8] = []
    var index = start + 1
    while index < css.count {
      let byte = css[index]
      if byte == quote {
        return Text(range: start + 1..<index, quote: quote, value: value, isClosed: true, end: index + 1)
      }
      if Self.isBreak(byte) {
        return Text(range: start + 1..<index, quote: quote, value: value, isClosed: false, end: index)
      }
      if byte == 0x5c {
        if let (bytes, end) = escape(at: index) {
          value += bytes
          index = end
        } else {
          index += css[index + 1] == 0x0d && index + 2 < css.count && css[index + 2] == 0x0a ? 3 : 2
        }
      } else {
        value.append(byte)
        index += 1
      }
    }
    return Text(range: start + 1..<index, quote: quote, value: value, isClosed: true, end: index)
  }

  /// Writes a string, empty if it is a URL that leads away. Many strings may be used as URLs, and displayed text seldom
  /// starts like one.
  private mutating func write(_ string: Text) {
    output.append(string.quote)
    let url = WebAddress.cleaned(string.value)
    if !WebAddress.leadsAway(url) { write(escaping: string.range) }
    if string.isClosed { output.append(string.quote) }
  }

  // MARK: Names

  private func startsName(at index: Int) -> Bool {
    let byte = css[index]
    if byte.isAsciiLetter || byte.isAsciiDigit || byte >= 0x80 || byte == 0x5f || byte == 0x2d { return true }
    return byte == 0x5c && next(index).map { !Self.isBreak($0) } ?? false
  }

  /// Returns a name, or a number with its unit, unescaped, in lower case.
  private func name(at start: Int) -> (value: String, end: Int) {
    let (value, end) = unescaped(from: start, while: startsName)
    return (String(decoding: value.map(\.asciiLowercase), as: UTF8.self), end)
  }

  /// Returns the unescaped bytes from `start` on, until an index for which `isPart` is false.
  private func unescaped(from start: Int, while isPart: (Int) -> Bool) -> (value: [UInt8], end: Int) {
    var value: [UInt8] = []
    var index = start
    while index < css.count, isPart(index) {
      if css[index] == 0x5c, let (bytes, end) = escape(at: index) {
        value += bytes
        index = end
      } else {
        value.append(css[index])
        index += 1
      }
    }
    return (value, index)
  }

  private mutating func word(at start: Int) -> Int {
    let (value, end) = name(at: start)
    guard end < css.count, css[end] == 0x28 else {
      write(escaping: start..<end)
      return end
    }
    switch value {
    case "url", "src": return url(at: end + 1)
    case "expression": output += "invalid".utf8
    default: write(escaping: start..<end)
    }
    return end
  }

  /// Handles the content of `url()`. If it is a string, more may follow it.
  private mutating func url(at start: Int) -> Int {
    var index = start
    while index < css.count, Self.isSpace(css[index]) { index += 1 }
    if index < css.count, css[index] == 0x22 || css[index] == 0x27 {
      let string = string(at: index)
      write(url: string.value)
      return string.end
    }
    let (value, end) = unescaped(from: index) { css[$0] != 0x29 }
    write(url: value)
    return end
  }

  private mutating func write(url: [UInt8]) {
    output += "url(\"".utf8
    for byte in links.picture(url) {
      switch byte {
      case 0x22, 0x5c, 0x3c, 0x0a, 0x0c, 0x0d:
        output += "\\\(String(byte, radix: 16)) ".utf8
      default: output.append(byte)
      }
    }
    output.append(0x22)
  }

  // MARK: Rules

  /// Handles an at-rule, which starts with `@`.
  private mutating func rule(at start: Int) -> Int {
    let (value, end) = name(at: start + 1)
    guard ["import", "charset", "namespace"].contains(value) else {
      output.append(0x40)
      write(escaping: start + 1..<end)
      return end
    }
    return endOfRule(from: end)
  }

  /// Returns the index after the `;` or the block that ends a rule, or before a `}` that ends the enclosing block.
  private func endOfRule(from start: Int) -> Int {
    var index = start
    var depth = 0
    while index < css.count {
      switch css[index] {
      case 0x22, 0x27: index = string(at: index).end
      case 0x5c: index += 2
      case 0x2f where next(index) == 0x2a: index = endOfComment(from: index)
      case 0x28, 0x5b, 0x7b:
        depth += 1
        index += 1
      case 0x29, 0x5d:
        depth = max(0, depth - 1)
        index += 1
      case 0x7d:
        if depth <= 1 { return depth == 0 ? index : index + 1 }
        depth -= 1
        index += 1
      case 0x3b where depth == 0: return index + 1
      default: index += 1
      }
    }
    return css.count
  }
}
