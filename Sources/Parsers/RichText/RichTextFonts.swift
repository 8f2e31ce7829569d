internal import Text

/// The code pages of an RTF document and its fonts.
struct RichTextFonts {
  /// The code page of text in other fonts.
  var documentPage = 1252
  /// The font that is being described.
  var described = -1
  private var pages: [Int: Int] = [:]
  private static let mostFonts = 4096
  /// The code page of fonts with symbols in place of letters.
  private static let symbols = 42

  func text(_ bytes: ArraySlice<UInt8>, _ font: Int) -> String {
    let page = pages[font] ?? documentPage
    guard page == Self.symbols else { return CodePage.text(bytes, in: page) }
    return String(decoding: bytes.map { $0 < 0x80 ? UInt16($0) : 0xf000 + UInt16($0) }, as: UTF16.self)
  }

  /// Sets the code page of the described font, from its `\cpg`.
  mutating func set(page: Int?) {
    if let page, described >= 0, pages.count < Self.mostFonts { pages[described] = page }
  }

  /// Sets the code page of the described font, from its `\fcharset`.
  mutating func set(charset: Int?) { set(page: charset.flatMap { Self.pageOfCharset[$0] }) }

  private static let pageOfCharset = [
    0: 1252, 2: symbols, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253,
    162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
  ]
}
