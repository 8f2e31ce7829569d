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

/// Percent-encoding (RFC 3986, section 2.1), of bytes.
enum Percent {
  /// nil if there is a `%` without two hexadecimal digits. Decodes once.
  static func decoded(_ text: some Collection<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.next().flatMap(\.hexValue), let low = rest.next().flatMap(\.hexValue) else { return nil }
        bytes.append(high << 4 | low)
      } else {
        bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return bytes
  }

  /// Everything but letters, digits and `-._~` is encoded, and `/` unless it is kept.
  static func encoded(_ bytes: some Sequence<UInt8>, keepingSlash: Bool = false) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        text.append(byte)
      case UInt8(ascii: "/") where keepingSlash: text.append(byte)
      default: text += [UInt8(ascii: "%"), hex(byte >> 4), hex(byte & 15)]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x37 + digit }
}
