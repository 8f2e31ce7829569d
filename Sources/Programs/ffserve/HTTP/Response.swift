import Assembly
import Bytes
import NIOCore
import NIOHTTP1

/// A response.
struct Response: Sendable {
  enum Body: Sendable {
    case none
    /// A body of unknown length that is not sent, in response to HEAD.
    case unknown
    case buffer(ByteBuffer)
    /// A part of a real file, which the kernel copies.
    case file(SharedFile, offset: Int64, count: Int64)
    /// A body that is made as it is sent.
    case stream(any BodySource)

    static func bytes(_ bytes: [UInt8]) -> Body { .buffer(ByteBuffer(bytes: bytes)) }
  }

  let status: HTTPResponseStatus
  private(set) var headers: [(name: String, value: String)] = []
  let body: Body
  /// The part of the header that is the same for all recipients. Nil before `prepared`.
  private(set) var head: ResponseHead?

  init(_ status: HTTPResponseStatus, headers: [(name: String, value: String)] = [], _ body: Body = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The body's size. Nil if it is known only at its end.
  var length: Int64? {
    switch body {
    case .none: 0
    case .unknown: nil
    case .buffer(let bytes): Int64(bytes.readableBytes)
    case .file(_, _, let count): count
    case .stream(let source): source.length
    }
  }

  /// Returns the response with a header that replaces one of the same name.
  func with(_ name: String, _ value: String) -> Response {
    var response = self
    response.headers.removeAll { $0.name == name }
    response.headers.append((name, value))
    response.head = nil
    return response
  }

  /// Returns the response with its header formatted once, so that event loops do not repeat that.
  func prepared() -> Response {
    if head != nil { return self }
    var response = self
    response.head = ResponseHead(self)
    return response
  }

  /// The policy for content that a browser may only show.
  static let inert = (name: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'")

  static func redirection(to target: String, _ status: HTTPResponseStatus = .movedPermanently) -> Response {
    Response(status, headers: [("Location", target), ("Cache-Control", "no-store")])
  }

  static func json(_ value: JSON, status: HTTPResponseStatus = .ok) -> Response {
    json(ByteBuffer(bytes: value.bytes), status: status)
  }

  static func json(_ text: ByteBuffer, status: HTTPResponseStatus = .ok) -> Response {
    Response(
      status, headers: [("Content-Type", "application/json"), ("Cache-Control", "private, no-cache"), inert],
      .buffer(text))
  }
}

/// The bytes of a response, made piece by piece. Used by one thread at a time.
protocol BodySource: AnyObject, Sendable {
  /// The size in bytes. Nil if it is known only at the end.
  var length: Int64? { get }

  /// Returns the next piece. Returns `nil` at the end. Blocks. May throw delays, after which it is called again.
  func next() throws(Fault) -> ByteBuffer?
}
