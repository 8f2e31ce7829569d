import NIOCore
import NIOHTTP1

extension ChannelPipeline.SynchronousOperations {
  /// The handlers that read requests and write answers, with limits on what a request may have. What is no request is
  /// an error, which `Connection` answers.
  func addHTTP() throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 32 << 10
    limits.maxHeaderListSize = 32 << 10
    limits.maxHeaderFieldCount = 100
    // How long a body is says `Site.head`: an answer to HEAD has none, of which the encoder knows nothing.
    var framing = HTTPResponseEncoder.Configuration()
    framing.automaticallySetFramingHeaders = false
    try configureHTTPServerPipeline(
      withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: true,
      withEncoderConfiguration: framing,
      withDecoderLimitConfiguration: limits)
  }
}
