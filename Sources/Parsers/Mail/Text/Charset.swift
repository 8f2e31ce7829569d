internal import Synchronization
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
      if let converted = Converters.shared.utf8(bytes, from: name) { return converted }
    }
    if let text = bytes.span.validText { return text }
    return Converters.shared.utf8(bytes, from: guess(bytes), isRepaired: true)
      ?? String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes unencoded text of a header field, whose character set may be declared elsewhere in the message.
  static func raw(_ bytes: ArraySlice<UInt8>, declared: ArraySlice<UInt8>?) -> String {
    if let text = bytes.span.validText { return text }
    if let name = declared.flatMap({ CharsetLabel.converterName(of: $0) }), name != CharsetLabel.utf8,
      let text = Converters.shared.utf8(bytes, from: name)
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
  static var converterCount: Int { Converters.shared.count }
}

/// A cache of converters, because iconv_open is slow.
private final class Converters: Sendable {
  static let shared = Converters()
  /// The converters by iconv's name. Nil for a name that iconv does not know.
  private let opened = Mutex<[String: CharsetConverter?]>([:])
  /// The maximum number of entries, because names may be hostile.
  private static let limit = 200

  var count: Int { opened.withLock { $0.count } }

  /// Converts bytes to UTF-8. Returns `nil` for a name that iconv does not know and, unless `isRepaired`, for bytes
  /// that are mostly invalid.
  func utf8(_ bytes: ArraySlice<UInt8>, from name: String, isRepaired: Bool = false) -> String? {
    opened.withLock { opened in
      if opened[name] == nil {
        if opened.count >= Converters.limit { opened.removeAll() }
        opened[name] = .some(CharsetConverter(name))
      }
      guard let converter = opened[name] ?? nil else { return nil }
      if let whole = converter.utf8(bytes) { return String(decoding: whole, as: UTF8.self) }
      let text = String(decoding: converter.repaired(bytes), as: UTF8.self)
      return isRepaired || Self.isMostlySound(text) ? text : nil
    }
  }

  /// Returns whether most of a text is valid. With a wrong label, most of it is invalid.
  private static func isMostlySound(_ text: String) -> Bool {
    var others = 0
    var bad = 0
    for scalar in text.unicodeScalars where scalar.value >= 0x80 {
      others += 1
      if scalar == "\u{fffd}" { bad += 1 }
    }
    return bad * 4 <= others || bad == 1 && others > 1
  }
}
