internal import Glibc

/// An IP address, or all addresses of a network: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Sendable {
  private let bytes: [UInt8]
  private let bits: Int

  /// Returns `nil` for other text.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bytes = Self.bytes(of: String(parts[0])) else { return nil }
    self.bytes = bytes
    guard parts.count == 2 else {
      bits = bytes.count * 8
      return
    }
    guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits), parts[1].utf8.allSatisfy({ $0 != 0x2b })
    else { return nil }
    self.bits = bits
  }

  /// Returns whether the range contains an address. Returns `false` for text that is not an address.
  package func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
    let whole = bits / 8
    guard bytes[..<whole].elementsEqual(other[..<whole]) else { return false }
    let rest = bits % 8
    return rest == 0 || (bytes[whole] ^ other[whole]) >> UInt8(8 - rest) == 0
  }

  /// Returns the four or sixteen bytes of an address. An IPv4-mapped IPv6 address is an IPv4 address.
  private static func bytes(of text: String) -> [UInt8]? {
    var four = [UInt8](repeating: 0, count: 4)
    if unsafe inet_pton(AF_INET, text, &four) == 1 { return four }
    var sixteen = [UInt8](repeating: 0, count: 16)
    guard unsafe inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let isMapped = sixteen[..<10].allSatisfy { $0 == 0 } && sixteen[10] == 0xff && sixteen[11] == 0xff
    return isMapped ? Array(sixteen[12...]) : sixteen
  }

  /// Returns whether a text is an IP address.
  package static func isAddress(_ text: String) -> Bool { bytes(of: text) != nil }
}
