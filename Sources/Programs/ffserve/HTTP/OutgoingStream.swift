import NIOCore

/// A stream that is being sent; of an event loop.
final class OutgoingStream {
  let source: any BodySource
  let client: Client
  /// Made and not yet sent.
  var ready: ByteBuffer?
  var isReading = false
  var isSending = false
  var isEnded = false

  init(_ source: any BodySource, _ client: Client) {
    self.source = source
    self.client = client
  }
}
