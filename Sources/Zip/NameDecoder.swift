internal import Codecs

/// Turns recorded names into UTF-8 (APPNOTE appendix D).
struct NameDecoder: Sendable {
  /// What names that are not UTF-8 are written in; nil for code page 437.
  private let charset: Charset?

  init(charset: Charset?) { self.charset = charset }

  /// What the upper half of code page 437 stands for.
  private static let codePage437 = Array(
    """
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}
    """.unicodeScalars.map { Array(String($0).utf8) })

  /// `name` itself when it is UTF-8, flagged or not, as what is written today is; else read in the set that was named, or as
  /// code page 437.
  func utf8(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    if name.allSatisfy({ $0 < 0x80 }) || String(validating: name, as: UTF8.self) != nil { return name }
    if let named = charset?.utf8(name) { return named[...] }
    var converted: [UInt8] = []
    for byte in name {
      if byte < 0x80 { converted.append(byte) } else { converted += Self.codePage437[Int(byte) - 0x80] }
    }
    return converted[...]
  }
}
