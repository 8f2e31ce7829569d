import ArgumentParser
import Assembly
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import Tree

@testable import ffserve

@Suite struct LimitTests {
  /// A client that opens and closes connections for long has as many as at first.
  @Test func connectionsThatEndAreNotCounted() throws {
    let limit = ConnectionLimit(8)
    let (anna, bob) = (Network("10.0.0.1"), Network("10.0.0.2"))
    let channels = (0..<10).map { _ in EmbeddedChannel() }
    for _ in 0..<20 {
      // A client alone has three quarters, and another one the rest.
      for number in 0..<6 { #expect(limit.enter(channels[number], of: anna)) }
      #expect(!limit.enter(channels[6], of: anna) && limit.count == 6 && !limit.isNear)
      #expect(limit.enter(channels[6], of: bob) && limit.isNear && limit.enter(channels[7], of: nil))
      #expect(!limit.enter(channels[8], of: bob) && limit.count == 8)
      for number in 0..<6 { limit.leave(channels[number], of: anna) }
      limit.leave(channels[6], of: bob)
      limit.leave(channels[7], of: nil)
      #expect(limit.count == 0)
    }
    // A client with half of them gets none of the last quarter.
    for number in 0..<4 { #expect(limit.enter(channels[number], of: anna)) }
    for number in 4..<6 { #expect(limit.enter(channels[number], of: bob)) }
    #expect(!limit.enter(channels[6], of: anna) && limit.enter(channels[6], of: bob))
    limit.leave(channels[0], of: anna)
    #expect(limit.enter(channels[0], of: anna) && !limit.enter(channels[7], of: anna))
  }

  @Test func connectionsAreDrained() {
    let limit = ConnectionLimit(8)
    let channel = EmbeddedChannel()
    let ends = Ends()
    #expect(limit.enter(channel, of: nil))
    limit.drain { ends.count += 1 }
    #expect(ends.count == 0 && !limit.enter(EmbeddedChannel(), of: nil))
    limit.leave(channel, of: nil)
    limit.leave(channel, of: nil)
    #expect(ends.count == 1)
    limit.drain { ends.count += 1 }
    #expect(ends.count == 2)
  }

  private final class Ends: @unchecked Sendable { var count = 0 }

  @Test func guessesOfANetworkAreLimited() {
    let limit = GuessLimit()
    for _ in 0..<10 {
      #expect(limit.permits("10.0.0.1") && limit.permits("2001:db8:1:1::1"))
      limit.noteWrong("10.0.0.1")
      limit.noteWrong("2001:db8:1:1::1")
    }
    #expect(!limit.permits("10.0.0.1") && limit.permits("10.0.0.2") && !limit.permits("::ffff:10.0.0.1"))
    // One user has all addresses of a network, and a site many networks.
    #expect(!limit.permits("2001:db8:1:1:9::") && limit.permits("2001:db8:1:2::1") && limit.permits("2001:db8:2:1::1"))
    for number in 2..<32 {
      #expect(limit.permits("2001:db8:1:\(number)::1"))
      limit.noteWrong("2001:db8:1:\(number)::1")
    }
    #expect(!limit.permits("2001:db8:1:99::1") && limit.permits("2001:db8:2:99::1"))
  }

  @Test func memoryOfResponsesIsLimited() {
    let answers = LargeAnswers(100)
    // The first is always permitted.
    #expect(answers.take(1000) && !answers.take(1))
    answers.give(back: 1000)
    #expect(answers.take(60) && !answers.take(41) && answers.take(40) && !answers.take(1))
    answers.give(back: 40)
    #expect(answers.take(40))
  }

  @Test func onlyProxiesReportTheirClients() throws {
    let proxies = Proxies([try #require(AddressRange("10.0.0.0/8")), try #require(AddressRange("2001:db8::/32"))])
    func client(_ peer: String, _ reports: String..., protocols: [String] = []) -> (address: String, isSecure: Bool?) {
      var headers = HTTPHeaders(reports.map { ("X-Forwarded-For", $0) })
      for value in protocols { headers.add(name: "X-Forwarded-Proto", value: value) }
      return proxies.client(headers, from: peer)
    }
    #expect(client("192.0.2.1", "198.51.100.7").address == "192.0.2.1" && client("10.0.0.1").address == "10.0.0.1")
    #expect(client("10.0.0.1", "198.51.100.7").address == "198.51.100.7")
    #expect(client("2001:db8::9", "198.51.100.7:5 , 10.2.3.4").address == "198.51.100.7")
    #expect(client("10.0.0.1", "[2001:dead::1]:5").address == "2001:dead::1")
    // What precedes the first address that is not a proxy's can be forged.
    #expect(client("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2").address == "198.51.100.7")
    #expect(client("10.0.0.1", "1.1.1.1", "198.51.100.7").address == "198.51.100.7")
    for word in ["unknown", "_hidden", "1.2.3", "1.2.3.4.5", "a.example", "1.2.3.4;x"] {
      #expect(client("10.0.0.1", "1.1.1.1, \(word), 10.0.0.2").address == "10.0.0.2", "\(word)")
    }
    #expect(client("10.0.0.1", protocols: ["http", "HTTPS"]).isSecure == true)
    #expect(client("10.0.0.1", protocols: ["https, http"]).isSecure == false)
    #expect(
      client("192.0.2.1", protocols: ["https"]).isSecure == nil
        && Proxies([]).client(["X-Forwarded-For": "1.1.1.1"], from: "::1").address == "::1")
  }

  @Test func onlyConversionsAreCountedAsThose() {
    let kinds: [WorkReport.Activity.Kind] = [.converting, .messages, .words, .documents, .converting]
    #expect(Metrics.conversions(among: kinds.map { WorkReport.Activity($0, path: "a") }) == 2)
    #expect(Metrics.conversions(among: []) == 0)
  }

  /// A server needs no token only if nobody else can reach it, or its user says so.
  @Test(arguments: [
    ([], true), (["--host", "::1"], true), (["--host", "127.0.0.2"], true), (["--no-token"], true),
    (["--host", "0.0.0.0"], false), (["--host", "0.0.0.0", "--no-token"], true), (["--host", "192.0.2.1"], false),
    (["--host", "localhost.example"], false), (["--proxy", "127.0.0.1"], false),
    (["--proxy", "127.0.0.1", "--no-token"], true),
    (["--users", "file"], false), (["--users", "file", "--host", "127.0.0.1"], false),
  ])
  func serverThatOthersCanReachNeedsAToken(_ words: [String], _ isOpen: Bool) throws {
    #expect(HTTPServer(try ServeOptions.parse(words + ["/tmp"])).isOpen == isOpen)
  }
}
