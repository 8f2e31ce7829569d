internal import Locks

/// A cache of converters, because iconv_open is slow. Thread-safe.
package final class CharsetConverters: Sendable {
  package static let shared = CharsetConverters()
  /// The converters by iconv's name. Nil for a name that iconv does not know.
  private let opened = UnfairLock<[String: CharsetConverter?]>([:])
  /// The maximum number of entries, because names may be hostile.
  private static let limit = 200

  package var count: Int { opened.withLock { $0.count } }

  /// Converts bytes to UTF-8, without a byte order mark. Returns `nil` for a name that iconv does not know and, unless
  /// `isRepaired`, for bytes that are mostly invalid.
  package func utf8(_ bytes: ArraySlice<UInt8>, from name: String, isRepaired: Bool = false) -> String? {
    let ordered = CharsetConverter.ordered(name, startingWith: bytes)
    let text = converted(bytes, from: ordered, isRepaired: isRepaired)
    guard ordered != name, let text, text.unicodeScalars.first == "\u{feff}" else { return text }
    return String(text.unicodeScalars.dropFirst())
  }

  private func converted(_ bytes: ArraySlice<UInt8>, from name: String, isRepaired: Bool) -> String? {
    opened.withLock { opened in
      if opened[name] == nil {
        if opened.count >= Self.limit { opened.removeAll() }
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
