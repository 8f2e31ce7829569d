/// The entity tags of HTTP (RFC 9110, section 8.8.3).
package enum EntityTag {
  private static let longest = 200

  /// Returns a strong tag, in the form for a condition. Returns `nil` for a weak one, which other bytes can have, and
  /// for other text.
  package static func strong(_ text: some StringProtocol) -> String? {
    let isText = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isText, text.hasPrefix("\""), text.hasSuffix("\""), (2...longest).contains(text.utf8.count) else {
      return nil
    }
    return String(text)
  }

  /// Returns a tag without the mark of a weak one. Tags of two responses that differ so are of different versions, also
  /// where a server makes a tag strong once the file has not changed for a while. Returns `nil` for other text.
  package static func opaque(_ text: some StringProtocol) -> String? {
    strong(text.hasPrefix("W/") ? String(text.dropFirst(2)) : String(text))
  }
}
