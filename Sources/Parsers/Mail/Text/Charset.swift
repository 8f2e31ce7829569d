internal import Text

/// Decoding of text in the character sets that mail declares: correctly, incorrectly or not at all.
public enum Charset {
  /// Decodes `bytes`. Never fails: if the label is unknown, missing or wrong, the set is detected. That is UTF-8 or
  /// else the likeliest set, Windows-1252 with little evidence. O(n). Takes a lock unless the bytes are UTF-8.
  public static func text(_ bytes: ArraySlice<UInt8>, named label: ArraySlice<UInt8>? = nil) -> String {
    if let name = label.flatMap({ CharsetLabel.converterName(of: $0) }) {
      if name == CharsetLabel.utf8 || DeclaredText.isUTF8(bytes, declaredAs: name) {
        return String(decoding: bytes, as: UTF8.self)
      }
      // Most sets are supersets of ASCII; the others use ESC, `+` or `~` among ASCII bytes.
      if let converted = CharsetConverters.shared.utf8(bytes, from: name) { return converted }
    }
    if let text = bytes.span.validText { return text }
    return CharsetConverters.shared.utf8(bytes, from: guess(bytes), isRepaired: true)
      ?? String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes unencoded text of a header field, whose character set may be declared elsewhere in the message.
  static func raw(_ bytes: ArraySlice<UInt8>, declared: ArraySlice<UInt8>?) -> String {
    if let text = bytes.span.validText { return text }
    if let name = declared.flatMap({ CharsetLabel.converterName(of: $0) }), name != CharsetLabel.utf8,
      let text = CharsetConverters.shared.utf8(bytes, from: name)
    {
      return text
    }
    return text(bytes)
  }

  /// Returns the converter's name of the likeliest set of a text that is not UTF-8.
  static func guess(_ text: ArraySlice<UInt8>) -> String {
    CharsetDetector.charset(of: text.split { $0 == 0x0a || $0 == 0x0d }, in: .text)
  }
}

extension Charset {
  /// The number of cached set names, known or not.
  static var converterCount: Int { CharsetConverters.shared.count }
}
