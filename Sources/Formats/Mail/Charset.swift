internal import Synchronization
internal import Text

/// Character sets as mail names them: rightly, wrongly or not at all.
public enum Charset {
  /// `bytes` as text. Never fails: an unknown, missing or wrong name is replaced by what the bytes look like, UTF-8 or else
  /// the likeliest set, Windows-1252 where little tells. Linear; takes a lock unless the bytes are UTF-8.
  public static func text(_ bytes: ArraySlice<UInt8>, named label: ArraySlice<UInt8>? = nil) -> String {
    if let name = label.flatMap({ CharsetLabel.converterName(of: $0) }) {
      if name == CharsetLabel.utf8 || DeclaredText.isUTF8(bytes, declaredAs: name) {
        return String(decoding: bytes, as: UTF8.self)
      }
      // Most are supersets of ASCII; those that are not use ESC, `+` or `~` among ASCII bytes.
      if let converted = Converters.shared.utf8(bytes, from: name) { return converted }
    }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return Converters.shared.utf8(bytes, from: guess(bytes), isRepaired: true)
      ?? String(decoding: bytes, as: UTF8.self)
  }

  /// Text that a header field holds as it is, of whose set only other parts of the message may say something.
  static func raw(_ bytes: ArraySlice<UInt8>, declared: ArraySlice<UInt8>?) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    if let name = declared.flatMap({ CharsetLabel.converterName(of: $0) }), name != CharsetLabel.utf8,
      let text = Converters.shared.utf8(bytes, from: name)
    {
      return text
    }
    return text(bytes)
  }

  /// The converter's name of what a text is likely to be in that is not UTF-8.
  static func guess(_ text: ArraySlice<UInt8>) -> String {
    CharsetDetector.charset(of: text.split { $0 == 0x0a || $0 == 0x0d }, in: .text)
  }
}

extension Charset {
  /// How many names of sets are remembered, known or not.
  static var converterCount: Int { Converters.shared.count }
}

/// Converters that have been used, for iconv_open is slow.
private final class Converters: Sendable {
  static let shared = Converters()
  /// By iconv's name; nil stands for a name that iconv does not know.
  private let opened = Mutex<[String: CharsetConverter?]>([:])
  /// Names come from hostile bytes.
  private static let limit = 200

  var count: Int { opened.withLock { $0.count } }

  /// nil for a name that iconv does not know, and for bytes most of which stand for nothing unless these are to be repaired.
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

  /// A name is wrong by which most of a text stands for nothing.
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
