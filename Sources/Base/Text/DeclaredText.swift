/// Checks of the declared character set of a text.
public enum DeclaredText {
  /// Returns whether `bytes` are UTF-8 although another set is declared. Some programs convert a text and keep its
  /// declaration. A truncated character at the end is ignored.
  ///
  /// Text is valid UTF-8 by chance only in a few characters. Two bytes of UTF-8 are one character of a Chinese,
  /// Japanese or Korean set. In a single-byte set, a pair such as `Ã©` may be intended. O(n).
  public static func isUTF8(_ bytes: ArraySlice<UInt8>, declaredAs name: String) -> Bool {
    guard let first = bytes.firstIndex(where: { $0 >= 0x80 }), CharsetConverter.unitWidth(name) == 1 else {
      return false
    }
    var whole = bytes[first...]
    for back in 1...3 where back <= whole.count {
      let byte = whole[whole.endIndex - back]
      guard byte & 0xc0 != 0x80 else { continue }
      if byte >= 0xc0, back < length(startingWith: byte) { whole = whole.dropLast(back) }
      break
    }
    guard whole.span.isUTF8 else { return false }
    var pairs = 0
    var longer = 0
    for byte in whole where byte >= 0xc0 { if byte >= 0xe0 { longer += 1 } else { pairs += 1 } }
    if isOfSevenBits(name) { return pairs + longer > 0 }
    return isOfSeveralBytes(name) ? longer > 0 && longer >= pairs : longer > 0 || pairs > 1
  }

  private static func length(startingWith lead: UInt8) -> Int { lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2 }

  private static func isOfSevenBits(_ name: String) -> Bool {
    name.hasPrefix("ISO-2022-") || name == CharsetConverter.chineseMail || name.hasPrefix("UTF-7")
  }

  private static func isOfSeveralBytes(_ name: String) -> Bool {
    name.hasPrefix("EUC-") || name.hasPrefix("BIG5") || name.hasPrefix("SHIFT_JIS")
      || ["CP932", "CP949", "CP950", "GB18030", "JOHAB"].contains(name)
  }
}
