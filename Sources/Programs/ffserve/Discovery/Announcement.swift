import Assembly
import CAvahi
import Glibc
import NIOCore

/// A server's announcement in the local network (DNS-SD, RFC 6763).
struct Announcement: Sendable {
  struct Service: Sendable {
    let type: String
    /// The strings of the TXT record: `key=value`.
    let texts: [String]
  }

  /// The name for users, common to all services: `archive on box`.
  let name: String
  let services: [Service]
  let port: UInt16
  /// The network interface to announce on. AVAHI_IF_UNSPEC for all.
  let interface: AvahiIfIndex
  /// The protocol: AVAHI_PROTO_INET, AVAHI_PROTO_INET6, or AVAHI_PROTO_UNSPEC for both.
  let family: AvahiProtocol

  /// The version of the API, as in its description.
  static let version = "1"
  static let browsey = "_browsey._tcp"
  /// The maximum length of a name, in bytes (RFC 6763, section 4.1.1).
  private static let longestName = 63

  /// Returns `nil` if only this machine can reach the server.
  ///
  /// - Parameter name: the name of the source.
  init?(of name: String, at address: SocketAddress?, isTLS: Bool, needsToken: Bool) {
    guard let address, let text = address.ipAddress, let port = address.port.flatMap(UInt16.init(exactly:)) else {
      return nil
    }
    let isIPv6 = address.protocol == .inet6
    switch text {
    case "0.0.0.0": (interface, family) = (AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_INET))
    case "::": (interface, family) = (AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC))
    default:
      guard let own = InterfaceAddress.all.first(where: { $0.text == text }), !own.isLoopback, own.interface > 0,
        let number = AvahiIfIndex(exactly: own.interface)
      else { return nil }
      interface = number
      family = AvahiProtocol(isIPv6 ? AVAHI_PROTO_INET6 : AVAHI_PROTO_INET)
    }
    self.port = port
    services = [
      Service(
        type: Self.browsey,
        texts: [
          "version=\(Self.version)", "path=/", "scheme=\(isTLS ? "https" : "http")", "token=\(needsToken ? 1 : 0)",
        ]),
      // The service type indicates TLS to clients.
      Service(type: isTLS ? "_webdavs._tcp" : "_webdav._tcp", texts: ["path=/dav/"]),
    ]
    self.name = Self.name(of: name)
  }

  private static func name(of source: String) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&buffer, buffer.count - 1)
    let host = String(decoding: buffer.prefix { $0 != 0 && $0 != 0x2e }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let end = " on " + cut(host.isEmpty ? "ffmount" : host, to: 24)
    return cut(Terminal.shown(source), to: longestName - end.utf8.count) + end
  }

  /// Returns as many whole characters as fit into a number of bytes.
  private static func cut(_ text: String, to size: Int) -> String {
    var room = size
    return String(
      text.prefix { character in
        room -= character.utf8.count
        return room >= 0
      })
  }
}
