import NIOCore

/// A stream that is being sent. Belongs to an event loop.
final class OutgoingStream {
  let source: any BodySource
  let client: Client
  /// Whether pieces are framed by chunked transfer coding (RFC 9112, section 7.1).
  let isChunked: Bool
  /// The next piece, not yet sent.
  var ready: ByteBuffer?
  var isReading = false
  var isSending = false
  var isEnded = false

  init(_ source: any BodySource, _ client: Client, isChunked: Bool) {
    self.source = source
    self.client = client
    self.isChunked = isChunked
  }
}
