internal import Glibc

/// The numbers of ports in addresses.
package enum Port {
  /// Returns the number in decimal digits, from 1 to 65535. Returns `nil` for other text.
  package static func number(_ text: some StringProtocol) -> Int? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { (1...65535).contains($0) ? $0 : nil }
  }
}

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
    // The prefix of an IPv4-mapped network includes the first 96 bits.
    let hidden = bytes.count == 4 && parts[0].contains(":") ? 96 : 0
    let digits = parts[1].utf8
    guard digits.count <= 3, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      digits.count == 1 || digits.first != 0x30,
      let bits = Int(parts[1]), (hidden...hidden + bytes.count * 8).contains(bits)
    else { return nil }
    self.bits = bits - hidden
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
    // C sees the text before it.
    if text.utf8.contains(0) { return nil }
    var four = [UInt8](repeating: 0, count: 4)
    if unsafe inet_pton(AF_INET, text, &four) == 1 { return four }
    var sixteen = [UInt8](repeating: 0, count: 16)
    guard unsafe inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let isMapped = sixteen[..<10].allSatisfy { $0 == 0 } && sixteen[10] == 0xff && sixteen[11] == 0xff
    return isMapped ? Array(sixteen[12...]) : sixteen
  }

  /// Returns the address of a text that may have a port: `1.2.3.4:5` or `[2001:db8::1]:5`. Returns `nil` for other text.
  package static func address(withoutPortOf text: String) -> String? {
    if isAddress(text) { return text }
    let isEnclosed = text.hasPrefix("[")
    guard let end = isEnclosed ? text.firstIndex(of: "]") : text.firstIndex(of: ":") else { return nil }
    let address = String(isEnclosed ? text[..<end].dropFirst() : text[..<end])
    let rest = isEnclosed ? text[end...].dropFirst() : text[end...]
    guard isAddress(address), address.contains(":") == isEnclosed,
      isEnclosed && rest.isEmpty || rest.first == ":" && Port.number(rest.dropFirst()) != nil
    else { return nil }
    return address
  }

  /// Returns whether a text is an IP address.
  package static func isAddress(_ text: String) -> Bool { bytes(of: text) != nil }
}
