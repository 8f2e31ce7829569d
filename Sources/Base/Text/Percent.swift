/// Percent-encoding (RFC 3986, section 2.1), of bytes.
public enum Percent {
  /// Decodes `text` once. Returns `nil` if there is a `%` without two hexadecimal digits.
  public static func decoded(_ text: some Collection<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
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

  /// Encodes all bytes but letters, digits and `-._~`. Also encodes `/`, unless it is kept.
  public static func encoded(_ bytes: some Sequence<UInt8>, keepingSlash: Bool = false) -> String {
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

extension ArraySlice<UInt8> {
  /// The bytes with percent-encoding decoded (RFC 3986 §2.1). Any other `%` is kept.
  public var percentDecoded: [UInt8] { hexadecimalDecoded(after: UInt8(ascii: "%")) }

  /// Returns the bytes with each `mark` and two hexadecimal digits replaced by the byte that they stand for. Any other
  /// mark is kept.
  public func hexadecimalDecoded(after mark: UInt8) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var index = startIndex
    while index < endIndex {
      if self[index] == mark, index + 2 < endIndex, let high = self[index + 1].hexValue,
        let low = self[index + 2].hexValue
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(self[index])
        index += 1
      }
    }
    return result
  }
}
