import ServerAnswers
import Testing

struct WebOriginTests {
  @Test(arguments: [
    ("http://host/a", "http://host:80/b", WebOrigin.Redirection.same),
    ("https://HOST", "https://host/b?c", .same),
    ("http://host", "https://host/", .other),
    ("https://host", "http://host/", .refused),
    ("https://host", "https://host:444/", .other),
    ("http://[::1]:8080/", "http://[::1]:8080/x", .same),
    ("http://host", "http://me:secret@host/", .refused),
    ("http://host", "file:///etc/passwd", .refused),
    ("http://host", "ftp://host/", .refused),
    ("http://host", "http:///", .refused),
    ("http://host", "http://host:0/", .refused),
    ("http://host", "http://host:x/", .refused),
    ("http://host", "http://host\\@other/", .same),
  ])
  func redirectionsStayOrLoseTheirCredentials(from: String, to: String, expected: WebOrigin.Redirection) throws {
    #expect(try #require(WebOrigin(of: from)).redirection(to: to) == expected)
  }

  @Test(
    arguments: [
      [127, 0, 0, 1], [10, 1, 2, 3], [172, 16, 0, 1], [172, 31, 255, 255], [192, 168, 1, 1], [169, 254, 169, 254],
      [100, 64, 0, 1], [0, 0, 0, 0], [224, 0, 0, 1], [255, 255, 255, 255], [198, 18, 0, 1], [192, 0, 2, 1],
      [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1],
      [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0xfd, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      [0x20, 0x02, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1],
      [], [1, 2, 3],
    ] as [[UInt8]])
  func addressesOfThisNetworkAreNotPublic(address: [UInt8]) { #expect(!PublicAddress.contains(address)) }

  @Test(
    arguments: [
      [1, 1, 1, 1], [8, 8, 8, 8], [172, 32, 0, 1], [172, 15, 0, 1], [100, 128, 0, 1], [223, 255, 255, 255],
      [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11],
      [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 8, 8, 8, 8],
    ] as [[UInt8]])
  func othersArePublic(address: [UInt8]) { #expect(PublicAddress.contains(address)) }
}
