internal import Text

/// The code pages of an RTF file's fonts.
struct RichTextCharsets {
  private var usual = 1252
  /// The code pages by font.
  private var pages: [Int: Int] = [:]
  /// The font that is being described.
  private var described = -1
  private var converters: [Int: CharsetConverter] = [:]
  private static let mostFonts = 4096

  mutating func setUsual(_ page: Int) { usual = page }

  mutating func describe(font: Int) { described = font }

  /// Sets a font's code page from its `\fcharset` or `\cpg`.
  mutating func setPage(_ page: Int?) {
    guard described >= 0, pages.count < Self.mostFonts else { return }
    if let page { pages[described] = page }
  }

  static let pageOfCharset: [Int: Int] = [
    0: 1252, 2: 42, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258,
    177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
  ]

  mutating func text(_ bytes: [UInt8], font: Int) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    let page = pages[font] ?? usual
    // Symbols do not have characters.
    if page == 42 {
      return String(decoding: bytes.map { $0 < 0x80 ? UInt16($0) : 0xf000 + UInt16($0) }, as: UTF16.self)
    }
    if converters[page] == nil {
      converters[page] = CharsetConverter(CodePage.name(page)) ?? CharsetConverter(CharsetDetector.western)
    }
    return String(decoding: converters[page]?.repaired(bytes[...]) ?? bytes, as: UTF8.self)
  }
}
