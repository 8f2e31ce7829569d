internal import Text

/// An incremental converter of text to well-formed UTF-8, in complete characters.
///
/// Invalid bytes become U+FFFD. A byte order mark is removed. A value type: a copy continues from the same position.
struct TextDecoder: Sendable {
  private(set) var encoding: TableEncoding
  /// The bytes of an incomplete character.
  private var carry: [UInt8] = []
  private var isStart = true

  /// The converters of iconv, which are not values. The caller owns them.
  struct Converters {
    fileprivate var converter: CharsetConverter?
  }

  init(_ encoding: TableEncoding) { self.encoding = encoding }

  mutating func decode(_ piece: [UInt8], isLast: Bool, _ converters: inout Converters) -> [UInt8] {
    var bytes = carry.isEmpty ? piece : carry + piece
    carry = []
    if encoding == .undecided { decide(bytes, isLast: isLast) }
    if !isLast {
      let end = wholeCharacters(bytes)
      carry = Array(bytes[end...])
      if end < bytes.count { bytes.removeLast(bytes.count - end) }
    }
    var text = utf8(bytes, &converters)
    if isStart, !text.isEmpty {
      isStart = false
      if text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
    }
    return text
  }

  /// Determines the encoding by the first character that is not ASCII.
  private mutating func decide(_ bytes: [UInt8], isLast: Bool) {
    guard let start = bytes.firstIndex(where: { $0 >= 0x80 }) else { return }
    let length = UTF8Sequence.length(startingWith: bytes[start])
    let character = bytes[start...].prefix(max(1, length))
    if !isLast, character.count < length, UTF8Sequence.isStart(character) { return }
    encoding = UTF8Sequence.isValid(character) ? .utf8 : .windows1252
  }

  /// Returns the end of the last complete character.
  private func wholeCharacters(_ bytes: [UInt8]) -> Int {
    switch encoding {
    case .windows1252: return bytes.count
    case .charset(let name): return WideCharset.wholeCharacters(bytes, in: name)
    case .utf32LittleEndian, .utf32BigEndian: return bytes.count / 4 * 4
    case .utf16LittleEndian, .utf16BigEndian:
      let end = bytes.count / 2 * 2
      guard end >= 2 else { return end }
      let high = bytes[encoding == .utf16LittleEndian ? end - 1 : end - 2]
      return (0xd8...0xdb).contains(high) ? end - 2 : end
    case .undecided, .utf8:
      // A character has at most three bytes after its first.
      for back in 1...3 where back <= bytes.count {
        let byte = bytes[bytes.count - back]
        if byte & 0xc0 == 0x80 { continue }
        return UTF8Sequence.length(startingWith: byte) > back ? bytes.count - back : bytes.count
      }
      return bytes.count
    }
  }

  private func utf8(_ bytes: [UInt8], _ converters: inout Converters) -> [UInt8] {
    guard let name = encoding.iconvName else {
      if bytes.span.isUTF8 { return bytes }
      return Array(String(decoding: bytes, as: UTF8.self).utf8)
    }
    if converters.converter?.name != name { converters.converter = CharsetConverter(name) }
    return converters.converter?.repaired(bytes[...]) ?? Array(String(decoding: bytes, as: UTF8.self).utf8)
  }
}
