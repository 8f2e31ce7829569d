/// Turns recorded names into UTF-8 (APPNOTE appendix D).
struct NameDecoder: Sendable {
  /// What the upper half of code page 437 stands for.
  private static let codePage437 = Array(
    """
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}
    """.unicodeScalars.map { Array(String($0).utf8) })

  /// `name` itself when it is UTF-8, flagged or not, as what is written today is; else read as code page 437.
  func utf8(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    if name.allSatisfy({ $0 < 0x80 }) || String(validating: name, as: UTF8.self) != nil { return name }
    var converted: [UInt8] = []
    for byte in name {
      if byte < 0x80 { converted.append(byte) } else { converted += Self.codePage437[Int(byte) - 0x80] }
    }
    return converted[...]
  }
}
