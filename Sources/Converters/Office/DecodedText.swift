internal import Text

/// The conversion of text to UTF-8 from any character set.
enum DecodedText {
  /// Converts text to UTF-8. `declared` is the character set that the text declares. Valid UTF-8 takes precedence over
  /// it. The character set is detected if neither applies.
  static func utf8(_ bytes: [UInt8], declared: ArraySlice<UInt8>?) -> [UInt8] {
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return valid(Array(bytes.dropFirst(3))) }
    if bytes.starts(with: [0xff, 0xfe]) { return converted(bytes.dropFirst(2), "UTF-16LE") }
    if bytes.starts(with: [0xfe, 0xff]) { return converted(bytes.dropFirst(2), "UTF-16BE") }
    let name = declared.flatMap { CharsetLabel.converterName(of: $0) }
    if bytes.span.isUTF8, name == nil || !(name ?? "").hasPrefix("ISO-2022") { return bytes }
    if let name, name != CharsetLabel.utf8 { return converted(bytes[...], name) }
    // Text with a few broken characters is still UTF-8.
    let repaired = converted(bytes[...], CharsetLabel.utf8)
    let broken = repaired.count { $0 == 0xef } * 3
    if name != nil, broken * 20 < bytes.count { return repaired }
    let lines = bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x3e }).prefix(1000)
    return converted(bytes[...], CharsetDetector.charset(of: Array(lines), in: .text))
  }

  private static func valid(_ bytes: [UInt8]) -> [UInt8] { bytes.span.isUTF8 ? bytes : converted(bytes[...], "UTF-8") }

  private static func converted(_ bytes: ArraySlice<UInt8>, _ name: String) -> [UInt8] {
    guard let converter = CharsetConverter(name) ?? CharsetConverter(CharsetDetector.western) else {
      return Array(String(decoding: bytes, as: UTF8.self).utf8)
    }
    return converter.repaired(bytes)
  }

  /// Loads the tables of the character sets of documents, which cannot be loaded later.
  static func prepare() -> [CharsetConverter] { sets.compactMap { CharsetConverter($0) } }

  private static let sets =
    (1250...1258).map { "WINDOWS-\($0)" } + [
      "UTF-8", "UTF-16LE", "UTF-16BE", "CP437", "CP850", "CP852", "CP866", "WINDOWS-874", "CP932", "CP949", "CP950",
      "GB18030", "BIG5-HKSCS", "EUC-JP-MS", "JOHAB", "ISO-8859-2", "ISO-8859-5", "ISO-8859-6", "ISO-8859-7",
      "ISO-8859-8", "ISO-8859-13", "ISO-8859-15", "KOI8-R", "KOI8-U", "MACINTOSH", "ISO-2022-JP",
    ]
}
