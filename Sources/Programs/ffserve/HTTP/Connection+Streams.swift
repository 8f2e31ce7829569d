import Bytes
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// HTTP/2 (RFC 9113): the streams of a connection.
extension Connection {
  /// The maximum number of concurrent streams, and the maximum size of the headers of a request, in bytes.
  private static let settings = [
    HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
    HTTP2Setting(parameter: .maxHeaderListSize, value: 32 << 10),
  ]
  /// The number of bytes that a client may send ahead, on a stream and on all together.
  private static let windows = (stream: 256 << 10, connection: 1 << 20)

  /// Receives HTTP/2 from now on.
  func carryStreams(_ context: ChannelHandlerContext) {
    streams = 0
    waitForRequest()
    var configuration = NIOHTTP2Handler.Configuration()
    configuration.connection.initialSettings = Self.settings
    configuration.connection.targetWindowSize = Self.windows.connection
    configuration.stream.targetWindowSize = Self.windows.stream
    // A browser that scrolls over pictures cancels hundreds of requests.
    configuration.stream.streamResetFrameRateLimit.maximumCount = 2000
    let isolated = NIOLoopBound(self, eventLoop: context.eventLoop)
    let handler = NIOHTTP2Handler(
      mode: .server, eventLoop: context.eventLoop, connectionConfiguration: configuration.connection,
      streamConfiguration: configuration.stream
    ) { channel in
      channel.eventLoop.makeCompletedFuture {
        let carrier = isolated.value
        try channel.pipeline.syncOperations.addHandlers([
          HTTP2FramePayloadToHTTP1ServerCodec(), StreamResponses(),
          Connection(carrier.site, isTLS: true, carrier.deadlines, in: carrier),
        ])
      }
    }
    do { try context.pipeline.syncOperations.addHandler(handler, position: .before(self)) } catch {
      context.close(promise: nil)
    }
  }

  func beginStream() {
    streams = (streams ?? 0) + 1
    waitForever()
  }

  func endStream() {
    streams = (streams ?? 1) - 1
    guard streams == 0 else { return }
    // The end of the stream is not sent yet.
    if site.isEnding { wait(.zero) } else { waitForRequest() }
  }

  /// Asks the client to begin no more streams, and ends the connection after those in progress.
  func endStreams(_ context: ChannelHandlerContext) {
    if streams == 0 { return context.close(promise: nil) }
    let end = HTTP2Frame.FramePayload.goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil)
    context.writeAndFlush(NIOAny(HTTP2Frame(streamID: .rootStream, payload: end)), promise: nil)
  }
}

extension HTTPRequestHead {
  /// Whether the version is HTTP/1.1 or later.
  var isCurrent: Bool { version == .http1_1 || version.major == 2 }
}

/// The event that ends the body of a response on a stream.
struct ResponseEnd: Sendable {}

/// Sends the responses that `Connection` writes as for HTTP/1.1 on a stream of HTTP/2.
final class StreamResponses: ChannelOutboundHandler {
  typealias OutboundIn = IOData
  typealias OutboundOut = HTTPServerResponsePart

  private var hasHead = false

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else { return context.close(promise: promise) }
    if !hasHead, let head = Self.head(from: &bytes) {
      // More than one response may be informational.
      hasHead = head.status.code >= 200
      context.write(wrapOutboundOut(.head(head)), promise: nil)
    }
    if bytes.readableBytes > 0 {
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
    } else {
      promise?.succeed()
    }
  }

  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard event is ResponseEnd else { return context.triggerUserOutboundEvent(event, promise: promise) }
    context.write(wrapOutboundOut(.end(nil)), promise: promise)
  }

  /// The fields that HTTP/2 does not have (RFC 9113, section 8.2.2).
  private static let dropped: Set = ["connection", "transfer-encoding"]

  /// Reads the header of a response of `ResponseHead`, and returns it. Returns `nil` if it is not whole.
  static func head(from bytes: inout ByteBuffer) -> HTTPResponseHead? {
    let view = bytes.readableBytesView
    guard let end = view.firstOccurrence(of: [0x0d, 0x0a, 0x0d, 0x0a]) else { return nil }
    let lines = String(decoding: view[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
    bytes.moveReaderIndex(to: end.upperBound)
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let name = line[..<colon].lowercased()
      if !dropped.contains(name) { headers.add(name: name, value: String(line[line.index(colon, offsetBy: 2)...])) }
    }
    return HTTPResponseHead(version: .http2, status: HTTPResponseStatus(statusCode: status), headers: headers)
  }
}
