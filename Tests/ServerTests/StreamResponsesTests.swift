import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ffserve

/// Responses on streams of HTTP/2, which are written as for HTTP/1.1.
@Suite struct StreamResponsesTests {
  /// Records the parts and events that leave the handler.
  private final class Recorder: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart
    var parts: [String] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      switch unwrapOutboundIn(data) {
      case .head(let head): parts.append("\(head.status.code) \(head.headers.map { "\($0.name)=\($0.value)" })")
      case .body(.byteBuffer(let bytes)): parts.append(String(buffer: bytes))
      case .body: parts.append("another body")
      case .end: parts.append("end")
      }
      promise?.succeed()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
      parts.append("event \(event)")
      promise?.succeed()
    }
  }

  /// Returns what becomes of the texts.
  private func parts(_ texts: [String]) throws -> [String] {
    let recorder = Recorder()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers([recorder, StreamResponses()])
    for text in texts { try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(string: text))) }
    try channel.triggerUserOutboundEvent(ResponseEnd()).wait()
    _ = try? channel.finish()
    return recorder.parts
  }

  @Test func fieldsOfConnectionsAreLeftOut() throws {
    let head = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nETag: \"a: b\"\r\n\r\n"
    #expect(
      try parts([head + "body", "\r\n\r\nmore"]) == ["200 [\"etag=\\\"a: b\\\"\"]", "body", "\r\n\r\nmore", "end"])
  }

  @Test func informationalResponsesPrecedeTheResponse() throws {
    let texts = ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 201 Created\r\n\r\n", "HTTP/1.1 404 x\r\n\r\n"]
    #expect(try parts(texts) == ["100 []", "201 []", texts[2], "end"])
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nA: b\r\n", "HTTP/1.1\r\n\r\n"])
  func incompleteHeadIsNoHead(_ text: String) {
    var bytes = ByteBuffer(string: text)
    #expect(StreamResponses.head(from: &bytes) == nil && bytes.readableBytes == text.utf8.count)
  }

  @Test func otherEventsArePassedOn() throws {
    let recorder = Recorder()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers([recorder, StreamResponses()])
    // A promise that is not kept would never end a wait.
    channel.triggerUserOutboundEvent("other", promise: nil)
    #expect(recorder.parts == ["event other"])
  }
}
