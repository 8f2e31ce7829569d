import NIOCore
import NIOHTTP1

extension ChannelPipeline.SynchronousOperations {
  /// Adds the handlers that read requests, with limits on their headers, and answer them. Malformed requests cause an
  /// error, which `Connection` answers.
  func addHTTP(_ connection: Connection) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 32 << 10
    limits.maxHeaderListSize = 32 << 10
    limits.maxHeaderFieldCount = 100
    try addHandler(ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)))
    try addHandler(connection)
  }
}
