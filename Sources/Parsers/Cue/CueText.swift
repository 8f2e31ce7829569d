internal import Text

/// A decoder for the text of a sheet.
enum CueText {
  /// Splits a text into lines. The text is UTF-8 or UTF-16, with or without a byte order mark, or in a detected
  /// character set.
  static func lines(of bytes: [UInt8]) -> [Substring] {
    text(of: bytes).split { $0.isNewline || $0 == "\0" }
  }

  private static func text(of bytes: [UInt8]) -> String {
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return String(decoding: bytes.dropFirst(3), as: UTF8.self) }
    if bytes.starts(with: [0xff, 0xfe]) { return wide(bytes.dropFirst(2), isBigEndian: false) }
    if bytes.starts(with: [0xfe, 0xff]) { return wide(bytes.dropFirst(2), isBigEndian: true) }
    // In UTF-16, each letter of a command has a zero byte.
    if bytes.count >= 4, bytes[1] == 0, bytes[3] == 0 { return wide(bytes[...], isBigEndian: false) }
    if bytes.count >= 4, bytes[0] == 0, bytes[2] == 0 { return wide(bytes[...], isBigEndian: true) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let charset = CharsetDetector.charset(of: bytes.split { $0 == 0x0a || $0 == 0x0d }, in: .text)
    for name in [charset, CharsetDetector.western] {
      if let text = CharsetConverter(name)?.utf8(bytes[...]) { return String(decoding: text, as: UTF8.self) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func wide(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> String {
    let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    return String(decoding: units, as: UTF16.self)
  }
}
