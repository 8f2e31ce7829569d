import Bytes
import Glibc
import Text

/// The query of a request's target: `a=1&b=%20` (application/x-www-form-urlencoded, WHATWG URL).
struct Query: Sendable {
  private let text: Substring

  init(_ text: Substring) { self.text = text }

  /// The query as it was sent.
  var sent: Substring { text }

  /// Returns whether there is a parameter with a name.
  func has(_ name: String) -> Bool {
    text.utf8.split(separator: UInt8(ascii: "&")).contains { pair in
      pair.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name.utf8)
    }
  }

  /// Returns the bytes of the first value with a name. Returns `nil` if there is none, or its encoding is invalid.
  func bytes(_ name: String) -> [UInt8]? {
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0].elementsEqual(name.utf8) else { continue }
      return parts.count > 1 ? Percent.decoded(parts[1], plusIsBlank: true) : []
    }
    return nil
  }

  /// Returns the bytes of all values with a name. Returns `nil` if the encoding of one is invalid.
  func all(_ name: String) -> [[UInt8]]? {
    var values: [[UInt8]] = []
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) where pair.starts(with: "\(name)=".utf8) {
      guard let value = Percent.decoded(pair.dropFirst(name.utf8.count + 1), plusIsBlank: true) else { return nil }
      values.append(value)
    }
    return values
  }

  /// Returns the first value with a name as text. Returns `nil` if there is none, its encoding is invalid, or it is not
  /// UTF-8.
  func text(_ name: String) -> String? {
    bytes(name).flatMap { $0.span.isUTF8 ? String(decoding: $0, as: UTF8.self) : nil }
  }

  /// Returns the first value with a name as a number. Returns `nil` if there is none. Throws if it is not a number, or is
  /// negative or too large.
  func number(_ name: String) throws(Fault) -> Int? {
    guard has(name) else { return nil }
    guard let digits = text(name), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
    else {
      throw Fault(.system(EINVAL), "the parameter \(name) is not a number")
    }
    return number
  }

  /// Returns whether a switch is on: `download`, `download=1`, `download=true`. Returns `nil` if it is missing.
  func flag(_ name: String) -> Bool? { text(name).map { !["0", "false", "no"].contains($0) } }

  /// Returns the query as it was sent, without the values with a name.
  func without(_ name: String) -> String {
    text.split(separator: "&").filter { $0 != name && !$0.hasPrefix(name + "=") }.joined(separator: "&")
  }
}
