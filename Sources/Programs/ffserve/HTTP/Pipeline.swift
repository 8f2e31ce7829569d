import NIOCore
import NIOHTTP1
import NIOSSL

extension ChannelPipeline.SynchronousOperations {
  /// Adds the handlers that read requests and answer them.
  ///
  /// - Parameter context: the settings of TLS, whose handshake decides how requests are read. Nil without TLS.
  func addHTTP(_ connection: Connection, _ context: NIOSSLContext?) throws {
    if let context { try addHandler(NIOSSLServerHandler(context: context)) }
    try addHandler(connection)
    if context == nil { try addDecoder(before: connection) }
  }

  /// Adds the handler that reads requests of HTTP/1, with limits on their headers. Malformed requests cause an error,
  /// which `Connection` answers.
  func addDecoder(before connection: Connection) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 32 << 10
    limits.maxHeaderListSize = 32 << 10
    limits.maxHeaderFieldCount = 100
    let decoder = ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits))
    try addHandler(decoder, position: .before(connection))
  }
}
