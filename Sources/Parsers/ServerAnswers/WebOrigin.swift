/// The origin of a URL: its scheme, host and port (RFC 6454).
package struct WebOrigin: Hashable, Sendable {
  package let isTLS: Bool
  /// The host in lower case, an IPv6 address in brackets.
  package let host: String
  package let port: Int

  /// Parses an absolute URL. Returns `nil` for other schemes than HTTP's, for one with a user name, and for one that
  /// is not valid.
  package init?(of url: String) {
    let lower = url.prefix(8).lowercased()
    let scheme = lower.hasPrefix("https://") ? "https://" : "http://"
    guard lower.hasPrefix(scheme) else { return nil }
    isTLS = scheme == "https://"
    let authority = url.utf8.dropFirst(scheme.utf8.count).prefix { byte in !"/?#\\".utf8.contains(byte) }
    var host = authority[...]
    var port = isTLS ? 443 : 80
    let end = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    if let colon = authority[end...].lastIndex(of: UInt8(ascii: ":")) {
      host = authority[..<colon]
      guard let number = Int(String(authority[authority.index(after: colon)...]) ?? ""), (1...65535).contains(number)
      else { return nil }
      port = number
    }
    guard !host.isEmpty, !authority.contains(UInt8(ascii: "@")), authority.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let text = String(host)
    else { return nil }
    (self.host, self.port) = (text.lowercased(), port)
  }

  /// Whether a redirection is followed.
  package enum Redirection: Sendable, Equatable {
    /// To the same origin: with everything that was sent to it before.
    case same
    /// To another origin: without credentials, and only to a public address.
    case other
    /// Not followed, because the connection would not be as secure as before, or it is not HTTP.
    case refused
  }

  /// Returns whether a redirection from this origin to a URL is followed.
  package func redirection(to url: String) -> Redirection {
    guard let target = WebOrigin(of: url) else { return .refused }
    if target == self { return .same }
    return isTLS && !target.isTLS ? .refused : .other
  }
}

/// The addresses of the public internet.
///
/// A server can lead its clients by redirections. It must not lead them to machines that only they can reach.
package enum PublicAddress {
  /// Networks of IPv4 that are not public, by their first address and the length of the prefix (RFC 6890).
  private static let networks: [(UInt32, UInt32)] = [
    (0, 8), (0x0a00_0000, 8), (0x6440_0000, 10), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xac10_0000, 12),
    (0xc000_0000, 24), (0xc000_0200, 24), (0xc058_6300, 24), (0xc0a8_0000, 16), (0xc612_0000, 15), (0xc633_6400, 24),
    (0xcb00_7100, 24), (0xe000_0000, 3),
  ]

  /// Returns whether an address of four or sixteen bytes is public.
  package static func contains(_ address: [UInt8]) -> Bool {
    switch address.count {
    case 4:
      let number = address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return !networks.contains { first, length in (number ^ first) >> (32 - length) == 0 }
    case 16:
      // IPv4 addresses in IPv6 (RFC 4291, 2.5.5.2; RFC 6052).
      if address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
        || address.starts(with: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
      {
        return contains(Array(address[12...]))
      }
      // Global unicast addresses, without Teredo, documentation and 6to4.
      let isSpecial =
        address.starts(with: [0x20, 0x01, 0, 0]) || address.starts(with: [0x20, 0x01, 0x0d, 0xb8])
        || address.starts(with: [0x20, 0x02])
      return address[0] & 0xe0 == 0x20 && !isSpecial
    default: return false
    }
  }
}
