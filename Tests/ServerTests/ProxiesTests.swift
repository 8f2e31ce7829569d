import Assembly
import NIOHTTP1
import Testing

@testable import ffserve

/// The clients that proxies report.
@Suite struct ProxiesTests {
  private func client(_ forwarded: String..., proto: String? = nil, from peer: String = "10.0.0.1") throws -> String {
    let proxies = Proxies([try #require(AddressRange("10.0.0.0/8")), try #require(AddressRange("fd00::/8"))])
    var headers = HTTPHeaders(forwarded.map { ("X-Forwarded-For", $0) })
    if let proto { headers.add(name: "X-Forwarded-Proto", value: proto) }
    let (address, isSecure) = proxies.client(headers, from: peer)
    return address + (isSecure.map { $0 ? " secure" : " plain" } ?? "")
  }

  @Test func lastAddressBeforeTheProxiesIsTheClient() throws {
    #expect(try client("1.2.3.4") == "1.2.3.4" && client("6.6.6.6, 1.2.3.4") == "1.2.3.4")
    #expect(try client("6.6.6.6,1.2.3.4:567 ,\t10.9.9.9") == "1.2.3.4")
    #expect(try client("[2001:db8::1]:80, fd00::1") == "2001:db8::1" && client("6.6.6.6", "1.2.3.4") == "1.2.3.4")
    #expect(
      try client("1.2.3.4", proto: "http, https") == "1.2.3.4 secure" && client(proto: "http") == "10.0.0.1 plain")
    #expect(try client() == "10.0.0.1" && client("") == "10.0.0.1")
  }

  @Test func otherPeersReportNothing() throws {
    #expect(try client("1.2.3.4", proto: "https", from: "11.0.0.1") == "11.0.0.1")
    #expect(try client("1.2.3.4", from: "") == "" && client("1.2.3.4", from: "::1") == "::1")
  }

  /// An address before one that is malformed may be forged.
  @Test(arguments: ["[1.2.3.4", "[1.2.3.4]", "1.2.3.4:x", "1.2.3.4 5", "[::1", "unknown", "1.2.3.4:99999", "[]"])
  func malformedAddressEndsTheSearch(_ text: String) throws {
    #expect(try client("6.6.6.6, \(text)") == "10.0.0.1" && client("\(text), 10.2.2.2") == "10.2.2.2")
  }
}
