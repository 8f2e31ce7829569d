import Bytes
import NIOCore
import NIOHTTP1

/// A request as it came, with its target taken apart.
struct Request: Sendable {
  let method: HTTPMethod
  /// What is asked for, as it was sent.
  let target: String
  /// The target's path as it was sent, still percent-encoded.
  let path: Substring
  let query: Query
  let headers: HTTPHeaders
  /// Whom the request is for: what an absolute target says, else the Host header; nil if there is no such header, or
  /// there are several (RFC 9112, section 3.2).
  let host: String?
  /// A small body; empty for most requests.
  let body: [UInt8]
  let isTLS: Bool
  /// Whether the client asks by TLS, if only as far as a proxy.
  let isSecure: Bool
  /// The client's address, without the port.
  let peer: String

  init(_ head: HTTPRequestHead, body: [UInt8], isTLS: Bool, peer: String, behind proxies: Proxies) {
    let client = proxies.client(head.headers, from: peer)
    method = head.method
    target = head.uri
    let (authority, asked) = Self.parts(of: head.uri[...])
    let parts = asked.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0]
    let hosts = head.headers["host"]
    host = hosts.count == 1 ? authority.map { String($0) } ?? hosts[0] : nil
    query = Query(parts.count > 1 ? parts[1] : "")
    headers = head.headers
    self.body = body
    self.isTLS = isTLS
    isSecure = isTLS || client.isSecure ?? false
    self.peer = client.address
  }

  /// Of an absolute target, as proxies send it, whom it is for, and the rest (RFC 9112, section 3.2.2).
  private static func parts(of target: Substring) -> (authority: Substring?, rest: Substring) {
    for scheme in ["http://", "https://"] where target.prefix(scheme.utf8.count).lowercased() == scheme {
      let after = target.dropFirst(scheme.utf8.count)
      let authority = after.prefix { $0 != "/" && $0 != "?" }
      let rest = after.dropFirst(authority.count)
      return (authority, rest.first == "/" ? rest : "/" + rest)
    }
    return (nil, target)
  }

  /// The value of a header that may occur once; nil if it is missing or there are several.
  func header(_ name: String) -> String? {
    let values = headers[name]
    return values.count == 1 ? values[0] : nil
  }
}
