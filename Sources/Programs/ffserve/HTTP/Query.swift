import Bytes
import Text

/// The query of a request's target: `a=1&b=%20` (application/x-www-form-urlencoded, WHATWG URL).
struct Query: Sendable {
  private let text: Substring

  init(_ text: Substring) { self.text = text }

  /// As it was sent.
  var sent: Substring { text }

  /// Whether there is a value with a name, whatever it is.
  func has(_ name: String) -> Bool {
    text.utf8.split(separator: UInt8(ascii: "&")).contains { pair in
      pair.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name.utf8)
    }
  }

  /// The bytes of the first value with a name; nil if there is none, or it is encoded wrongly.
  func bytes(_ name: String) -> [UInt8]? {
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0].elementsEqual(name.utf8) else { continue }
      return parts.count > 1 ? Percent.decoded(parts[1], plusIsBlank: true) : []
    }
    return nil
  }

  /// The same as text; nil if it is not UTF-8, too.
  func text(_ name: String) -> String? {
    bytes(name).flatMap { $0.span.isUTF8 ? String(decoding: $0, as: UTF8.self) : nil }
  }

  /// Whether a switch is on: `download`, `download=1`, `download=true`; nil if it is not mentioned.
  func flag(_ name: String) -> Bool? { text(name).map { !["0", "false", "no"].contains($0) } }

  /// The query without the values with a name, as it was sent.
  func without(_ name: String) -> String {
    text.split(separator: "&").filter { $0 != name && !$0.hasPrefix(name + "=") }.joined(separator: "&")
  }
}
