/// Base64 (RFC 4648, section 4).
public enum Base64 {
  private static let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes bytes in one line, with padding.
  public static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(place <= group.count ? signs[Int(bits >> UInt32(18 - 6 * place) & 63)] : 0x3d)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes one line, with or without padding. Returns `nil` if it contains any other character, or an incomplete
  /// byte.
  public static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var joined = Joined()
    let whole = text.utf8.prefix { $0 != 0x3d }
    guard text.utf8.dropFirst(whole.count).allSatisfy({ $0 == 0x3d }), whole.count % 4 != 1 else { return nil }
    for byte in whole {
      guard let value = byte.base64Value else { return nil }
      if let whole = joined.take(value) { bytes.append(whole) }
    }
    return bytes
  }

  /// Joins the values of characters, six bits each, into bytes.
  public struct Joined {
    @usableFromInline var bits: UInt32 = 0
    @usableFromInline var count = 0

    @inlinable
    public init() {}

    /// Takes the value of the next character. Returns the byte that it completes, if any.
    @inlinable
    public mutating func take(_ value: UInt8) -> UInt8? {
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { return nil }
      count -= 8
      return UInt8(truncatingIfNeeded: bits >> UInt32(count))
    }
  }
}

extension UInt8 {
  /// The value of a Base64 character, 0 to 63. Nil for any other byte, including padding.
  @inlinable @inline(__always)
  public var base64Value: UInt8? {
    switch self {
    case 0x41...0x5a: self - 0x41
    case 0x61...0x7a: self - 0x47
    case 0x30...0x39: self + 4
    case 0x2b: 62
    case 0x2f: 63
    default: nil
    }
  }
}
