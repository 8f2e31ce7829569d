import Assembly
import CAvahi
import Glibc
import NIOCore

/// What a server says of itself in the local network (DNS-SD, RFC 6763).
struct Announcement: Sendable {
  struct Service: Sendable {
    let type: String
    /// Of the TXT record: `key=value`.
    let texts: [String]
  }

  /// For people, and the same for all services: `archive on box`.
  let name: String
  let services: [Service]
  let port: UInt16
  /// The network interface that it is said on; AVAHI_IF_UNSPEC for all.
  let interface: AvahiIfIndex
  /// AVAHI_PROTO_INET, AVAHI_PROTO_INET6, or AVAHI_PROTO_UNSPEC for both.
  let family: AvahiProtocol

  /// Of the API, as its description has it.
  static let version = "1"
  static let browsey = "_browsey._tcp"
  /// In bytes (RFC 6763, section 4.1.1).
  private static let longestName = 63

  /// nil if only this machine can ask the server: others would be led to a closed door.
  /// - Parameter name: of what is served.
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
      // By this name clients know that there is TLS.
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

  /// As many whole characters as fit into a number of bytes.
  private static func cut(_ text: String, to size: Int) -> String {
    var room = size
    return String(
      text.prefix { character in
        room -= character.utf8.count
        return room >= 0
      })
  }
}
