import Bytes
import NIOCore
import NIOHTTP1

/// The sending of responses.
extension Connection {
  /// The maximum size of a body that is sent together with its header, in bytes.
  private static let small = 16 << 10
  /// The size of the pieces of a file, in bytes. A client that does not read is detected between them.
  private static let fileStep: Int64 = 4 << 20

  /// The headers that scripts of other pages may read.
  private static let exposed =
    "Accept-Ranges, Content-Disposition, Content-Range, DAV, ETag, Location, Lock-Token, Tus-Extension, Tus-Resumable, "
    + "Tus-Version, Upload-Length, Upload-Offset"

  /// Returns the time limit for a client to receive a number of bytes: a minute, plus the time at 16 KiB per second.
  private static func sendTime(_ count: Int) -> TimeAmount { .seconds(60 + Int64(count >> 14)) }

  func send(_ response: Response, to method: HTTPMethod, _ context: ChannelHandlerContext) {
    var held = 0
    if case .buffer(let bytes) = response.body, bytes.readableBytes > LargeAnswers.uncounted, method != .HEAD {
      guard site.largeAnswers.take(bytes.readableBytes) else {
        let detail = "too many large answers are currently being sent"
        return send(.problem(.serviceUnavailable, detail, headers: [("Retry-After", "5")]), to: method, context)
      }
      held = bytes.readableBytes
    }
    site.metrics.note(response.status)
    let isBare = method == .HEAD || response.status == .notModified
    let isChunked = response.length == nil && !isBare && takesChunks
    // The end of the connection is the end of the body.
    if response.length == nil, !isBare, !takesChunks { keepsAlive = false }
    let head = response.head ?? ResponseHead(response)
    let room = head.bytes.count + 128 + (isBare ? 0 : smallCount(response))
    var buffer = context.channel.allocator.buffer(capacity: room)
    buffer.writeBytes(head.bytes)
    buffer.writeStaticString("Date: ")
    buffer.writeString(site.date)
    if let origin {
      buffer.writeString("\r\nAccess-Control-Allow-Origin: \(origin)\r\nVary: Origin")
      buffer.writeString("\r\nAccess-Control-Expose-Headers: \(Self.exposed)")
    }
    if isChunked { buffer.writeStaticString("\r\nTransfer-Encoding: chunked") }
    buffer.writeStaticString(keepsAlive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n")
    if isBare { return finish(buffer, held: held, context) }
    switch response.body {
    case .none, .unknown:
      if isChunked { buffer.writeStaticString("0\r\n\r\n") }
      finish(buffer, context)
    case .buffer(var bytes):
      site.metrics.note(sent: bytes.readableBytes)
      if bytes.readableBytes <= Self.small {
        buffer.writeBuffer(&bytes)
        return finish(buffer, context)
      }
      context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
      finish(bytes, held: held, context)
    case .file(let file, let offset, let count) where isStream:
      context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
      begin(FileBody(file, from: offset, count), isChunked: false, context)
    case .file(let file, let offset, let count):
      context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
      sendFile(file, offset, count, context)
    case .stream(let source):
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
      begin(source, isChunked: isChunked, context)
    }
  }

  private func begin(_ source: any BodySource, isChunked: Bool, _ context: ChannelHandlerContext) {
    let client = self.client ?? Client(in: network)
    self.client = client
    more(OutgoingStream(source, client, isChunked: isChunked), context)
  }

  private func smallCount(_ response: Response) -> Int {
    guard case .buffer(let bytes) = response.body, bytes.readableBytes <= Self.small else { return 0 }
    return bytes.readableBytes
  }

  /// Sends the last bytes of a response, and then releases its share of `Site.largeAnswers`.
  private func finish(_ last: ByteBuffer, held: Int = 0, _ context: ChannelHandlerContext) {
    client = nil
    wait(Self.sendTime(last.readableBytes))
    let promise = context.eventLoop.makePromise(of: Void.self)
    context.write(wrapOutboundOut(.byteBuffer(last)), promise: promise)
    // In the frame of the last bytes: clients reset a stream that has all bytes and does not end.
    if isStream { context.triggerUserOutboundEvent(ResponseEnd(), promise: nil) }
    context.flush()
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      if held > 0 { site.largeAnswers.give(back: held) }
      if case .failure = result { return context.close(promise: nil) }
      sent(context)
    }
  }

  private func sendFile(_ file: SharedFile, _ offset: Int64, _ count: Int64, _ context: ChannelHandlerContext) {
    let step = min(count, Self.fileStep)
    let region = FileRegion(
      fileHandle: file.handle, readerIndex: Int(offset), endIndex: Int(offset + step))
    wait(Self.sendTime(Int(step)))
    site.metrics.note(sent: Int(step))
    if step == count { client = nil }
    let promise = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.fileRegion(region)), promise: promise)
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      // The file is open until here.
      withExtendedLifetime(file) {
        if case .failure = result { return context.close(promise: nil) }
        if step == count { sent(context) } else { sendFile(file, offset + step, count - step, context) }
      }
    }
  }

  // MARK: Streams

  /// Makes the next piece while one is sent, but no more. On a stream of HTTP/2, which costs a client less than a
  /// connection, it is made only if the client currently receives the previous one.
  private func more(_ stream: OutgoingStream, _ context: ChannelHandlerContext) {
    guard !stream.isReading, !stream.isEnded, stream.ready == nil else { return }
    if isStream, stream.isSending, !context.channel.isWritable { return }
    stream.isReading = true
    // The time to make a piece is not limited.
    if !stream.isSending { waitForever() }
    let isolated = NIOLoopBound((self, context, stream), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    let source = stream.source
    site.bench.perform(for: stream.client) { () throws(Fault) in
      try source.next()
    } _: { result in
      loop.execute {
        let (connection, context, stream) = isolated.value
        guard connection.client === stream.client else { return }
        stream.isReading = false
        switch result {
        case .success(let buffer):
          stream.isEnded = buffer == nil
          stream.ready = buffer
          connection.drain(stream, context)
        case .failure(let fault):
          // Missing bytes must not look like the end of the body.
          connection.site.log("an answer was cut off: \(fault.sentence)")
          context.close(promise: nil)
        }
      }
    }
  }

  private func drain(_ stream: OutgoingStream, _ context: ChannelHandlerContext) {
    if stream.isSending { return }
    guard let buffer = stream.ready.take() else {
      if stream.isEnded { finish(ByteBuffer(staticString: stream.isChunked ? "0\r\n\r\n" : ""), context) }
      return
    }
    stream.isSending = true
    site.metrics.note(sent: buffer.readableBytes)
    wait(Self.sendTime(buffer.readableBytes))
    let promise = context.eventLoop.makePromise(of: Void.self)
    if stream.isChunked {
      let size = ByteBuffer(string: String(buffer.readableBytes, radix: 16) + "\r\n")
      context.write(wrapOutboundOut(.byteBuffer(size)), promise: nil)
      context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer(staticString: "\r\n"))), promise: promise)
    } else {
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(buffer)), promise: promise)
    }
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      guard case .success = result, client === stream.client else { return context.close(promise: nil) }
      stream.isSending = false
      drain(stream, context)
      more(stream, context)
    }
    more(stream, context)
  }
}
