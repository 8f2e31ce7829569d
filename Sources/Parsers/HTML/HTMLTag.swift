/// A start or end tag, as ranges of the document (HTML Standard §13.2.5.6 to 13.2.5.40).
struct HTMLTag {
  struct Attribute {
    let name: Range<Int>
    /// The value as written, without quotes. Empty if there is none.
    let value: Range<Int>
  }

  let isEnd: Bool
  let name: Range<Int>
  private(set) var attributes: [Attribute] = []
  /// The index after its `>`.
  private(set) var end: Int

  /// The maximum number of attributes. The rest are ignored.
  private static let attributesAtMost = 500

  /// Parses the tag at `start`, a `<` followed by a letter, or by a slash and a letter. Returns `nil` if the document
  /// ends within it, which is then not a tag. O(n).
  init?(_ html: [UInt8], at start: Int) {
    isEnd = html[start + 1] == 0x2f
    var index = start + (isEnd ? 2 : 1)
    let nameStart = index
    while index < html.count, !Self.endsName(html[index]) { index += 1 }
    name = nameStart..<index
    end = index
    while true {
      while index < html.count, Self.isSpace(html[index]) || html[index] == 0x2f { index += 1 }
      guard index < html.count else { return nil }
      if html[index] == 0x3e { break }
      let from = index
      // The first byte of a name may be one that ends it elsewhere.
      index += 1
      while index < html.count, !Self.endsName(html[index]), html[index] != 0x3d { index += 1 }
      let attribute = from..<index
      while index < html.count, Self.isSpace(html[index]) { index += 1 }
      guard index < html.count else { return nil }
      var value = index..<index
      if html[index] == 0x3d {
        index += 1
        guard let found = Self.value(html, &index) else { return nil }
        value = found
      }
      if attributes.count < Self.attributesAtMost { attributes.append(Attribute(name: attribute, value: value)) }
    }
    end = index + 1
  }

  /// Parses the value after a `=`.
  private static func value(_ html: [UInt8], _ index: inout Int) -> Range<Int>? {
    while index < html.count, isSpace(html[index]) { index += 1 }
    guard index < html.count else { return nil }
    let quote = html[index]
    if quote == 0x22 || quote == 0x27 {
      guard let close = html[(index + 1)...].firstIndex(of: quote) else { return nil }
      defer { index = close + 1 }
      return index + 1..<close
    }
    let from = index
    while index < html.count, !isSpace(html[index]), html[index] != 0x3e { index += 1 }
    return index < html.count ? from..<index : nil
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) && byte != 0x0b }
  private static func endsName(_ byte: UInt8) -> Bool { isSpace(byte) || byte == 0x2f || byte == 0x3e }
}

extension HTMLTag {
  /// The parser state within a tag that is longer than the window in memory.
  enum Place: Sendable {
    case outside
    /// After the `=` of an attribute.
    case beforeValue
    case quoted(UInt8)
    case unquoted

    /// Continues from `start`. Returns the index after the tag's `>`, or `nil` if that is not in the window.
    mutating func pass(_ html: [UInt8], from start: Int) -> Int? {
      for index in start..<html.count {
        let byte = html[index]
        switch self {
        case .quoted(let quote): if byte == quote { self = .outside }
        case .beforeValue where HTMLTag.isSpace(byte): continue
        case .beforeValue where byte == 0x22 || byte == 0x27: self = .quoted(byte)
        case .outside where byte == 0x3e, .beforeValue where byte == 0x3e, .unquoted where byte == 0x3e:
          return index + 1
        case .beforeValue: self = .unquoted
        case .unquoted: if HTMLTag.isSpace(byte) { self = .outside }
        case .outside: if byte == 0x3d { self = .beforeValue }
        }
      }
      return nil
    }
  }
}
