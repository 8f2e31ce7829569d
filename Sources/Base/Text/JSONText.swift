/// The text of JSON strings (RFC 8259, section 7).
public enum JSONText {
  /// Appends a string with its quotation marks.
  public static func append(quoted text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    append(escaped: text.utf8.span, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns a string with its quotation marks.
  public static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(quoted: text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns whether a text needs no escaping.
  public static func isPlain(_ text: Span<UInt8>) -> Bool {
    for place in text.indices where isEscaped(text[place]) { return false }
    return true
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<") || byte == 0x7f
  }

  /// Appends the contents of a string. Escaped text cannot end an enclosing script element.
  public static func append(escaped text: Span<UInt8>, to bytes: inout [UInt8]) {
    var start = 0
    for place in text.indices {
      let byte = text[place]
      guard isEscaped(byte) else { continue }
      append(text.extracting(start..<place), to: &bytes)
      start = place + 1
      switch byte {
      case UInt8(ascii: "\""): bytes += "\\\"".utf8
      case UInt8(ascii: "\\"): bytes += "\\\\".utf8
      case UInt8(ascii: "\n"): bytes += "\\n".utf8
      case UInt8(ascii: "\t"): bytes += "\\t".utf8
      default:
        bytes += "\\u00".utf8
        bytes += [hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
      }
    }
    append(text.extracting(start..<text.count), to: &bytes)
  }

  private static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)
}
