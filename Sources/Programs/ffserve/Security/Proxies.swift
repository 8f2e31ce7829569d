import Assembly
import NIOHTTP1

/// The machines before the server, such as nginx, which say for whom they ask. Nobody else is believed.
struct Proxies: Sendable {
  private let ranges: [AddressRange]

  init(_ ranges: [AddressRange]) { self.ranges = ranges }

  /// For whom a peer asks: the last address that it and other proxies did not add for one of themselves; and whether by TLS,
  /// nil where it does not say.
  func client(_ headers: HTTPHeaders, from peer: String) -> (address: String, isSecure: Bool?) {
    guard !ranges.isEmpty, contains(peer) else { return (peer, nil) }
    let schemes = Self.items(headers["x-forwarded-proto"])
    var client = peer
    for item in Self.items(headers["x-forwarded-for"]).reversed() {
      let address = Self.withoutPort(item)
      // What a client made up is before what the proxies added.
      guard AddressRange.isAddress(address) else { break }
      client = address
      if !contains(address) { break }
    }
    return (client, schemes.last.map { $0.lowercased() == "https" })
  }

  /// Whether an address is that of a proxy.
  func contains(_ address: String) -> Bool { ranges.contains { $0.contains(address) } }

  private static func items(_ values: [String]) -> [String] {
    values.flatMap { $0.split(separator: ",") }.map { item in
      String(item.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
    }
  }

  /// `1.2.3.4:5` and `[2001:db8::1]:5`, as some write them.
  private static func withoutPort(_ item: String) -> String {
    if item.hasPrefix("[") { return String(item.dropFirst().prefix { $0 != "]" }) }
    let parts = item.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? String(parts[0]) : item
  }
}
