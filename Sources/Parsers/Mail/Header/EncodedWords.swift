internal import Text

/// Decoding of text in header fields: encoded words (RFC 2047), raw UTF-8 (RFC 6532), and violations of both.
public enum EncodedWords {
  /// Decodes a value, unfolded and trimmed.
  ///
  /// Words are decoded anywhere, also inside quoted strings and next to other characters. Adjacent words in one
  /// character set are joined before conversion, so that a character may be split across them. Non-ASCII text outside
  /// words is UTF-8, or else in the set `declared`, which the message declares elsewhere, or else in a detected one.
  /// Never fails. O(n).
  public static func decode(_ raw: ArraySlice<UInt8>, declared: ArraySlice<UInt8>? = nil) -> String {
    decode(raw.span, declared: declared)
  }

  static func decode(_ raw: Span<UInt8>, declared: ArraySlice<UInt8>? = nil) -> String {
    let value = raw.extracting(raw.trimmed)
    if isPlain(value) { return value.text }
    var decoder = WordDecoder(declared: declared)
    return decoder.decode(value.unfolded)
  }

  /// Returns whether a value is ASCII without encoded words.
  private static func isPlain(_ value: Span<UInt8>) -> Bool {
    for index in value.indices {
      let byte = value[index]
      if byte >= 0x80 || byte == 0x0a || byte == 0x0d { return false }
      if byte == 0x3f, index > 0, value[index - 1] == 0x3d { return false }
    }
    return true
  }
}

extension EncodedWords {
  /// Returns the character set of the first encoded word in `raw`. Returns `nil` if there is none.
  static func charset(in raw: Span<UInt8>) -> ArraySlice<UInt8>? {
    var index = 0
    while index + 1 < raw.count, let start = raw.firstIndex(of: 0x3d, in: index..<raw.count - 1) {
      index = start + 1
      guard raw[start + 1] == 0x3f else { continue }
      let limit = min(raw.count, start + WordDecoder.longestCharset)
      guard let end = raw.firstIndex(of: 0x3f, in: start + 2..<limit), end > start + 2 else { continue }
      return raw.extracting(start + 2..<end).array[...]
    }
    return nil
  }
}

/// Decodes one value.
private struct WordDecoder {
  let declared: ArraySlice<UInt8>?
  private var result = ""
  /// The decoded bytes of the words since the last text outside a word, in `charset`.
  private var joined: [UInt8] = []
  private var charset: ArraySlice<UInt8> = []
  /// Whether no further `?=` follows, so that the search is not repeated.
  private var isWithoutEnd = false

  /// The maximum length of a character set, in bytes, including the preceding `=?`.
  static let longestCharset = 80

  init(declared: ArraySlice<UInt8>?) { self.declared = declared }

  private struct Word {
    var charset: Range<Int>
    var isBase64: Bool
    var text: Range<Int>
    var end: Int
  }

  mutating func decode(_ bytes: [UInt8]) -> String {
    var index = 0
    var literal = 0
    var isBehindWord = false
    while index < bytes.count {
      guard bytes[index] == 0x3d, let word = word(bytes, at: index) else {
        index += 1
        continue
      }
      let between = bytes[literal..<index]
      // Space between two words is not part of the text (§6.2).
      if !isBehindWord || !between.allSatisfy({ $0.isMailSpace }) { append(between) }
      let name = bytes[word.charset]
      if !EncodedWords.isSame(name, charset) {
        flush()
        charset = name
      }
      joined += word.isBase64 ? EncodedWords.base64(bytes[word.text]) : EncodedWords.quoted(bytes[word.text])
      index = word.end
      literal = index
      isBehindWord = true
    }
    append(bytes[literal...])
    return result
  }

  private mutating func append(_ literal: ArraySlice<UInt8>) {
    flush()
    if !literal.isEmpty { result += Charset.raw(literal, declared: declared) }
  }

  private mutating func flush() {
    if !joined.isEmpty { result += Charset.text(joined[...], named: charset) }
    joined = []
    charset = []
  }

  /// Returns the word that starts at `start`: `=?charset?encoding?text?=`. Spaces in the text are tolerated.
  private mutating func word(_ bytes: [UInt8], at start: Int) -> Word? {
    guard !isWithoutEnd, start + 6 < bytes.count, bytes[start + 1] == 0x3f else { return nil }
    var index = start + 2
    while index < bytes.count, index - start < Self.longestCharset, bytes[index] != 0x3f, bytes[index] > 0x20 {
      index += 1
    }
    guard index > start + 2, index + 2 < bytes.count, bytes[index] == 0x3f, bytes[index + 2] == 0x3f else { return nil }
    let charset = start + 2..<index
    let encoding = bytes[index + 1].asciiLowercase
    guard encoding == 0x62 || encoding == 0x71 else { return nil }
    let text = index + 3
    index = text
    while index + 1 < bytes.count, bytes[index] != 0x3f || bytes[index + 1] != 0x3d { index += 1 }
    guard index + 1 < bytes.count else {
      isWithoutEnd = true
      return nil
    }
    return Word(charset: charset, isBase64: encoding == 0x62, text: text..<index, end: index + 2)
  }
}

extension EncodedWords {
  fileprivate static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    one.count == other.count && zip(one, other).allSatisfy { $0.asciiLowercase == $1.asciiLowercase }
  }

  /// Decodes the Q encoding (§4.2). Invalid hexadecimal is kept.
  static func quoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      if byte == 0x3d, index + 2 < text.endIndex, let high = text[index + 1].hexValue,
        let low = text[index + 2].hexValue
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(byte == 0x5f ? 0x20 : byte)
        index += 1
      }
    }
    return result
  }

  /// Decodes the B encoding (§4.1). Skips other characters, tolerates missing padding, and decodes bytes after padding.
  static func base64(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3 + 3)
    var joined = Base64.Joined()
    for byte in text {
      switch byte {
      // The alphabet for file names (RFC 4648 §5).
      case 0x2d: if let whole = joined.take(62) { result.append(whole) }
      case 0x5f: if let whole = joined.take(63) { result.append(whole) }
      case 0x3d: joined = Base64.Joined()
      default: if let value = byte.base64Value, let whole = joined.take(value) { result.append(whole) }
      }
    }
    return result
  }
}
