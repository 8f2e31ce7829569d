import Assembly
import NIOHTTP1

/// The reverse proxies of the server, such as nginx, which report their clients. Other machines' reports are ignored.
struct Proxies: Sendable {
  private let ranges: [AddressRange]
  /// Whether clients without an address are proxies, which connect by a Unix socket.
  private let hasSocket: Bool

  init(_ ranges: [AddressRange], hasSocket: Bool = false) {
    self.ranges = ranges
    self.hasSocket = hasSocket
  }

  /// Returns the client of a peer: the last reported address that is not one of a proxy. Also returns whether the
  /// client uses TLS, or `nil` if that is not reported.
  func client(_ headers: HTTPHeaders, from peer: String) -> (address: String, isSecure: Bool?) {
    guard contains(peer) else { return (peer, nil) }
    let schemes = Self.items(headers["x-forwarded-proto"])
    var client = peer
    for item in Self.items(headers["x-forwarded-for"]).reversed() {
      // Addresses forged by a client precede those added by proxies, some of which add ports.
      guard let address = AddressRange.address(withoutPortOf: item) else { break }
      client = address
      if !contains(address) { break }
    }
    return (client, schemes.last.map { $0.lowercased() == "https" })
  }

  /// Returns whether an address is that of a proxy.
  func contains(_ address: String) -> Bool {
    address.isEmpty ? hasSocket : !ranges.isEmpty && ranges.contains { $0.contains(address) }
  }

  private static func items(_ values: [String]) -> [String] {
    values.flatMap { $0.split(separator: ",") }.map { item in
      let isSpace = { (character: Character) in character == " " || character == "\t" }
      return String(item.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
  }
}
