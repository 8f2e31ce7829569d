/// RFC 4648, section 4.
public enum Base64 {
  private static let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// In one line, with padding.
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

  /// The bytes that a text in one line stands for, with or without padding; nil if it has any other sign, or half a
  /// byte.
  public static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count): (UInt32, Int) = (0, 0)
    let whole = text.utf8.prefix { $0 != 0x3d }
    guard text.utf8.dropFirst(whole.count).allSatisfy({ $0 == 0x3d }), whole.count % 4 != 1 else { return nil }
    for byte in whole {
      guard let sign = signs.firstIndex(of: byte) else { return nil }
      bits = bits << 6 | UInt32(sign)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }
}
