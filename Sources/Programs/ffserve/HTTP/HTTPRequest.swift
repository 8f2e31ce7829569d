import Bytes
import NIOCore
import NIOHTTP1

/// A request with its parsed target.
struct HTTPRequest: Sendable {
  let method: HTTPMethod
  /// The target as it was sent.
  let target: String
  /// The target's path below `base`, as it was sent, still percent-encoded.
  private(set) var path: Substring
  /// The part of the addresses before `path`, without a trailing slash. Proxies may have removed it from the target.
  private(set) var base: String
  let query: Query
  let headers: HTTPHeaders
  /// The requested host: that of an absolute target, otherwise that of the Host header. Nil if there is no such header,
  /// or several (RFC 9112, section 3.2).
  let host: String?
  /// The body, which is small, and empty for most requests.
  let body: [UInt8]
  let isTLS: Bool
  /// Whether the client uses TLS, at least to a proxy.
  let isSecure: Bool
  /// The client's address, without the port.
  let peer: String

  init(_ head: HTTPRequestHead, body: [UInt8], isTLS: Bool, peer: String, behind proxies: Proxies, prefix: String = "")
  {
    let client = proxies.client(head.headers, from: peer)
    method = head.method
    target = head.uri
    let (authority, asked) = Self.parts(of: head.uri[...])
    let parts = asked.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = Self.below(prefix, parts[0]) ?? parts[0]
    base = prefix
    let hosts = head.headers["host"]
    host = hosts.count == 1 ? authority.map { String($0) } ?? hosts[0] : nil
    query = Query(parts.count > 1 ? parts[1] : "")
    headers = head.headers
    self.body = body
    self.isTLS = isTLS
    isSecure = isTLS || client.isSecure ?? false
    self.peer = client.address
  }

  /// Splits an absolute target, as sent by proxies, into the authority and the rest (RFC 9112, section 3.2.2).
  static func parts(of target: Substring) -> (authority: Substring?, rest: Substring) {
    for scheme in ["http://", "https://"] where target.prefix(scheme.utf8.count).lowercased() == scheme {
      let after = target.dropFirst(scheme.utf8.count)
      let authority = after.prefix { $0 != "/" && $0 != "?" }
      let rest = after.dropFirst(authority.count)
      return (authority, rest.first == "/" ? rest : "/" + rest)
    }
    return (nil, target)
  }

  /// Whether the request may change something.
  var isChange: Bool { ![.GET, .HEAD, .OPTIONS, .PROPFIND].contains(method) }

  /// Returns the rest of a path below another one, or `nil` if it is not below that.
  static func below(_ prefix: String, _ path: Substring) -> Substring? {
    guard path.hasPrefix(prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    return rest.isEmpty || rest.first == "/" ? rest : nil
  }

  /// Returns the value of a header that may occur once. Returns `nil` if it is missing, or there are several.
  func header(_ name: String) -> String? {
    let values = headers[name]
    return values.count == 1 ? values[0] : nil
  }
}
