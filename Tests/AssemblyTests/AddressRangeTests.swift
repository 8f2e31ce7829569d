import Assembly
import Testing

@Suite struct AddressRangeTests {
  /// The first and the last address of each network, and the addresses before and behind those.
  @Test(arguments: 1...31) func ipv4RangeMatchesPrefixLength(_ bits: Int) throws {
    let mask = UInt32.max << UInt32(32 - bits)
    let first = 0x4c_a9_53_b6 & mask
    let last = first | ~mask
    let range = try #require(AddressRange("\(text(0x4c_a9_53_b6))/\(bits)"))
    #expect(range.contains(text(first)) && range.contains(text(last)))
    #expect(first == 0 || !range.contains(text(first - 1)))
    #expect(last == .max || !range.contains(text(last + 1)))
  }

  @Test(arguments: [1, 7, 9, 47, 60, 65, 100, 121, 127]) func ipv6RangeMatchesPrefixLength(_ bits: Int) throws {
    var address: [UInt16] = [0x2ac7, 0x5db8, 0x91e3, 0x4c6f, 0xb25a, 0x7d19, 0xe48c, 0x36a5]
    let range = try #require(AddressRange("\(text(address))/\(bits)"))
    // The last bit of the prefix is another, and the first one behind it.
    address[(bits - 1) / 16] ^= 0x8000 >> UInt16((bits - 1) % 16)
    #expect(!range.contains(text(address)))
    address[(bits - 1) / 16] ^= 0x8000 >> UInt16((bits - 1) % 16)
    address[bits / 16] ^= 0x8000 >> UInt16(bits % 16)
    #expect(range.contains(text(address)))
  }

  @Test func addressRangeAcceptsSingleAddressesAndRejectsErrors() throws {
    let one = try #require(AddressRange("10.0.0.7"))
    #expect(one.contains("10.0.0.7") && one.contains("::ffff:10.0.0.7") && !one.contains("10.0.0.6"))
    let all = try #require(AddressRange("0.0.0.0/0"))
    #expect(all.contains("255.255.255.255") && !all.contains("::1") && !all.contains("nothing"))
    for text in [
      "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "fd00::/129", "10.0.0.0/8/8",
      "10.0.0.0/-0", "10.0.0.0/08", "10.0.0.0/00", "10.0.0.0/ 8", "10.0.0.0/8 ", "10.0.0.0/\u{663}", "10.0.0.0/0x8",
      " 10.0.0.0", "10.0.0.0 ", "010.0.0.0", "10.0.0.256", "10.0.0.0.0", "10.0.0.-1", "0xa.0.0.0", "10.0.0.0\0/8",
      "10.0.0.0/8\0", "[10.0.0.0]", "[::1]", "10.0.0.0:80", "::1%lo", "fd00::/", "fd00:::/8", "1::2::3", "localhost",
      "*", "::ffff:10.0.0.0/8", "::ffff:10.0.0.0/95", "::ffff:10.0.0.0/129", "::ffff:0:0/80",
    ] {
      #expect(AddressRange(text) == nil, "\(text)")
    }
  }

  @Test func mappedNetworkIsOneOfIPv4() throws {
    let range = try #require(AddressRange("::ffff:10.0.0.0/104"))
    #expect(range.contains("10.255.255.255") && range.contains("::ffff:10.0.0.1") && !range.contains("11.0.0.0"))
    let all = try #require(AddressRange("::ffff:0:0/96"))
    #expect(all.contains("255.0.0.1") && !all.contains("::1"))
  }

  @Test(arguments: [
    ("10.0.0.1", "10.0.0.1"), ("10.0.0.1:80", "10.0.0.1"), ("10.0.0.1:65535", "10.0.0.1"), ("::1", "::1"),
    ("[::1]", "::1"), ("[::1]:443", "::1"), ("[2001:db8::1]:1", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"),
    ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
    // A group of four digits, not a port.
    ("2001:db8:0:0:0:0:0:8080", "2001:db8:0:0:0:0:0:8080"),
  ])
  func portsAreRemoved(_ text: String, _ address: String) {
    #expect(AddressRange.address(withoutPortOf: text) == address)
  }

  @Test(arguments: [
    "", ":", ":80", "[", "]", "[]", "[]:80", "[1.2.3.4", "[1.2.3.4]", "[1.2.3.4]:80", "1.2.3.4]", "1.2.3.4:",
    "1.2.3.4:0",
    "1.2.3.4:65536", "1.2.3.4:x", "1.2.3.4:+80", "1.2.3.4:-80", "1.2.3.4: 80", "1.2.3.4:80 ", "1.2.3.4:80:80",
    "1.2.3.4:000080", "1.2.3:80", "[::1", "::1]", "[::1]:", "[::1]x", "[::1]80", "[::1]:x", "[::1]:0", "[::1]:65536",
    "[::1]:80x", "[::1]]:80", "[[::1]]", "[::1]:80:80", "::1:80x", "[::1%lo]", "fe80::1%lo", "unknown", "_hidden",
    "example.org", "example.org:80", "1.2.3.4\0", "1.2.3.4\0:80", "1.2.3.4:8\u{663}", "1.2.3.4/8", "\"1.2.3.4\"",
  ])
  func otherTextsHaveNoAddress(_ text: String) { #expect(AddressRange.address(withoutPortOf: text) == nil) }

  @Test func portsAreDigits() {
    for (text, port) in [("1", 1), ("80", 80), ("00080", 80), ("65535", 65535)] { #expect(Port.number(text) == port) }
    for text in ["", "0", "65536", "99999", "100000", "+80", "-1", " 80", "80 ", "8o", "\u{663}", "0x50", "8\u{308}"] {
      #expect(Port.number(text) == nil, "\(text)")
    }
  }

  private func text(_ address: UInt32) -> String {
    stride(from: 24, through: 0, by: -8).map { String(address >> UInt32($0) & 0xff) }.joined(separator: ".")
  }

  private func text(_ address: [UInt16]) -> String { address.map { String($0, radix: 16) }.joined(separator: ":") }
}
