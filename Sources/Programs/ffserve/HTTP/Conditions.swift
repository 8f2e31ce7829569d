import Bytes
import NIOCore
import NIOHTTP1
import Tree

/// The conditions of a request (RFC 9110, section 13).
struct Conditions: Sendable {
  private let request: HTTPRequest

  init(_ request: HTTPRequest) { self.request = request }

  /// Whether there are any that concern the state of an existing item.
  var areAboutState: Bool {
    ["if-match", "if-none-match", "if-unmodified-since"].contains { request.headers.contains(name: $0) }
  }

  /// Returns whether a request that changes an item, or reads one for which the client requires a state, may continue.
  ///
  /// - Parameters:
  ///   - tag: the current entity tag. Nil if the item does not exist.
  ///   - modified: the current modification time, in seconds.
  func permit(tag: String?, modified: Int64) -> Bool {
    if !requiredStateHolds(tag: tag, modified: modified) { return false }
    guard request.headers.contains(name: "if-none-match"), let tag else { return true }
    return !isListed(tag, in: "if-none-match")
  }

  /// Returns whether If-Match and If-Unmodified-Since hold.
  func requiredStateHolds(tag: String?, modified: Int64) -> Bool {
    if request.headers.contains(name: "if-match") {
      guard let tag else { return false }
      return isListed(tag, in: "if-match")
    }
    guard let since = request.header("if-unmodified-since").flatMap(HTTPDate.seconds) else { return true }
    return modified <= since
  }

  /// Returns whether the client has the current state of a file, as it says.
  func hasState(tag: String, modified: Int64) -> Bool {
    if request.headers.contains(name: "if-none-match") { return isListed(tag, in: "if-none-match") }
    guard let since = request.header("if-modified-since").flatMap(HTTPDate.seconds) else { return false }
    return modified <= since
  }

  /// Returns whether a header contains an entity tag, or `*`. Several headers are ignored.
  private func isListed(_ tag: String, in header: String) -> Bool {
    guard let known = request.header(header) else { return false }
    return known == "*"
      || known.split(separator: ",").contains { part in
        let part = part.drop { $0 == " " }
        return (part.hasPrefix("W/") ? part.dropFirst(2) : part).prefix { $0 != " " } == tag
      }
  }
}

extension ResolvedPath {
  /// Returns the entity tag, which changes with the bytes. Does not block.
  func entityTag(_ attributes: Attributes) throws(Fault) -> String {
    "\"" + String(try version(attributes), radix: 36) + "\""
  }
}

extension Response {
  /// Returns the response with an entity tag of its bytes, or 304 if the client has them. O(n).
  func tagged(for request: HTTPRequest) -> Response {
    guard case .buffer(let bytes) = body else { return self }
    return tagged(Self.entityTag(of: bytes), for: request)
  }

  /// Returns the response with an entity tag, or 304 if the client has the body with this tag.
  func tagged(_ tag: String, for request: HTTPRequest) -> Response {
    let response = with("ETag", tag)
    let isKnown = Conditions(request).hasState(tag: tag, modified: .max)
    return isKnown ? Response(.notModified, headers: response.headers) : response
  }

  /// Returns an entity tag that changes with the bytes. O(n).
  static func entityTag(of bytes: ByteBuffer) -> String {
    var hash = StableHash()
    unsafe bytes.withUnsafeReadableBytes { unsafe hash.combine(long: RawSpan(_unsafeBytes: $0)) }
    return "\"" + String(hash.value, radix: 36) + "\""
  }
}
