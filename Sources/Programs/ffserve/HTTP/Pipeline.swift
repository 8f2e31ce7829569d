import NIOCore
import NIOHTTP1

extension ChannelPipeline.SynchronousOperations {
  /// The handlers that read requests and write answers, with limits on what a request may have.
  func addHTTP() throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 16 << 10
    limits.maxHeaderListSize = 32 << 10
    limits.maxHeaderFieldCount = 100
    try configureHTTPServerPipeline(
      withPipeliningAssistance: true, withErrorHandling: true, withOutboundHeaderValidation: true,
      withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: limits)
  }
}
