import Testing

@testable import ffserve

@Suite struct HostNamesTests {
  private let names = HostNames(given: ["Media.example", "0.0.0.0"])

  @Test(arguments: [
    "localhost", "LOCALHOST:8080", "media.example", "MEDIA.EXAMPLE.", "media.example:80", "media.example.:65535",
    "10.1.2.3",
    "192.168.0.1:8080", "[::1]", "[::1]:8080", "[2001:DB8::1]:443", "media.example:",
  ])
  func ownNamesAndAddressesAreAccepted(_ host: String) { #expect(names.contains(host)) }

  @Test(arguments: [
    "", ":", ":80", "evil.example", "media.example.evil.example", "evil.media.example", "media.example..",
    "media.example:80a",
    "media.example:x", "media.example:123456", "media.example:80:80", "localhost@evil.example", "10.1.2.3.evil.example",
    "10.1.2", "10.1.2.3:x", "10.1.2.3:123456", "::1", "[::1", "[::1]x", "[::1]:x", "[::1]:123456", "[::1].evil.example",
    "[evil.example]", "[10.1.2.3]", "[]",
  ])
  func otherNamesAreRefused(_ host: String) { #expect(!names.contains(host)) }

  @Test func nameThatIsAddedLaterIsAccepted() {
    #expect(!names.contains("later.local"))
    names.add("Later.local")
    #expect(names.contains("later.local") && names.contains("LATER.LOCAL:1"))
  }
}
