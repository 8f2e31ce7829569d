import Bytes
import NIOCore

/// The receiver of a request's body, which is stored as it arrives. Used by one thread at a time.
protocol BodySink: AnyObject, Sendable {
  /// Stores the next bytes. Blocks.
  func write(_ bytes: ByteBuffer) throws(Fault)

  /// Stores the whole body under its name, and returns the response. Blocks.
  func finish() throws(Fault) -> Response

  /// Called instead of `finish` if the body does not arrive completely. Blocks.
  ///
  /// - Parameter rest: the last bytes that arrived, behind those that were stored.
  func discard(_ rest: ByteBuffer)
}

/// The manner in which the body of a request is received.
enum Reception: Sendable {
  case sink(any BodySink)
  /// The body is of no use. The response is sent after it, or instead of it.
  case refused(Response)

  /// Begins to receive. Blocks.
  typealias Start = @Sendable () throws(Fault) -> Reception
}
