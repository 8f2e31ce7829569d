import Bytes
import NIOCore
import NIOHTTP1

/// What is answered.
struct Response: Sendable {
  enum Body: Sendable {
    case none
    /// To HEAD: what there would be, which nobody knows the length of.
    case unknown
    case buffer(ByteBuffer)
    /// A part of a real file, which the kernel copies.
    case file(SharedFile, offset: Int64, count: Int64)
    /// What is made as it is sent.
    case stream(any BodySource)

    static func bytes(_ bytes: [UInt8]) -> Body { .buffer(ByteBuffer(bytes: bytes)) }
  }

  let status: HTTPResponseStatus
  private(set) var headers: [(name: String, value: String)] = []
  let body: Body
  /// What of it is the same for all who get it; nil before `prepared`.
  private(set) var head: ResponseHead?

  init(_ status: HTTPResponseStatus, headers: [(name: String, value: String)] = [], _ body: Body = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The body's size; nil if it is known only at its end.
  var length: Int64? {
    switch body {
    case .none: 0
    case .unknown: nil
    case .buffer(let bytes): Int64(bytes.readableBytes)
    case .file(_, _, let count): count
    case .stream(let source): source.length
    }
  }

  /// With a header that replaces one of the same name.
  func with(_ name: String, _ value: String) -> Response {
    var response = self
    response.headers.removeAll { $0.name == name }
    response.headers.append((name, value))
    response.head = nil
    return response
  }

  /// With its head made, which is not for an event loop to do again and again.
  func prepared() -> Response {
    if head != nil { return self }
    var response = self
    response.head = ResponseHead(self)
    return response
  }

  /// For what no browser is to do anything with but show it.
  static let inert = (name: "Content-Security-Policy", value: "default-src 'none'; frame-ancestors 'none'")

  static func json(_ value: some Encodable, status: HTTPResponseStatus = .ok) -> Response {
    json(ByteBuffer(bytes: JSONText.bytes(of: value)), status: status)
  }

  static func json(_ text: ByteBuffer, status: HTTPResponseStatus = .ok) -> Response {
    Response(
      status, headers: [("Content-Type", "application/json"), ("Cache-Control", "private, no-cache"), inert],
      .buffer(text))
  }
}

/// The bytes of a response, made piece by piece. Used by one thread at a time.
protocol BodySource: AnyObject, Sendable {
  /// In bytes; nil if it is not known before the end.
  var length: Int64? { get }

  /// The next piece; nil at the end. Blocks; may throw delays, after which it is called again.
  func next() throws(Fault) -> ByteBuffer?
}
