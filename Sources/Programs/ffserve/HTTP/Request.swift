import Bytes
import NIOCore
import NIOHTTP1

/// A request as it came, with its target taken apart.
struct Request: Sendable {
  let method: HTTPMethod
  /// The target's path as it was sent, still percent-encoded.
  let path: Substring
  let query: Query
  let headers: HTTPHeaders
  /// A small body; empty for most requests.
  let body: [UInt8]
  let isTLS: Bool
  /// The client's address, without the port.
  let peer: String

  init(_ head: HTTPRequestHead, body: [UInt8], isTLS: Bool, peer: String) {
    method = head.method
    let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0]
    query = Query(parts.count > 1 ? parts[1] : "")
    headers = head.headers
    self.body = body
    self.isTLS = isTLS
    self.peer = peer
  }

  /// The value of a header that may occur once; nil if it is missing or there are several.
  func header(_ name: String) -> String? {
    let values = headers[name]
    return values.count == 1 ? values[0] : nil
  }
}
