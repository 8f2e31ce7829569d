import Bytes
import NIOCore
import NIOHTTP1

/// How answers are sent.
extension Connection {
  /// For a client to take a piece of an answer: a minute, and as long as it takes at 16 KiB a second.
  private static func sendTime(_ count: Int) -> TimeAmount { .seconds(60 + Int64(count >> 14)) }

  func send(_ response: Response, to method: HTTPMethod, _ context: ChannelHandlerContext) {
    if case .bytes(let bytes) = response.body, bytes.count > LargeAnswers.uncounted, method != .HEAD {
      guard site.largeAnswers.take(bytes.count) else {
        let detail = "too many large answers are being sent at this moment"
        return send(.problem(.serviceUnavailable, detail, headers: [("Retry-After", "5")]), to: method, context)
      }
      held = bytes.count
    }
    site.metrics.note(response.status)
    let hasEnd = response.length != nil || method == .HEAD || takesChunks
    keepsAlive = keepsAlive && hasEnd
    let head = site.head(of: response, inChunks: method != .HEAD && takesChunks, isLast: !keepsAlive)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if method == .HEAD || response.status == .notModified { return finish(context) }
    switch response.body {
    case .none, .unknown: finish(context)
    case .bytes(let bytes):
      site.metrics.note(sent: bytes.count)
      context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: bytes)))), promise: nil)
      finish(context, after: bytes.count)
    case .file(let file, let offset, let count): sendFile(file, offset, count, context)
    case .stream(let source): pump(source, context)
    }
  }

  /// Ends the answer; the next request is read, or the connection closed, once it has been sent.
  private func finish(_ context: ChannelHandlerContext, after count: Int = 0) {
    client = nil
    wait(Self.sendTime(count), context)
    isAnswering = false
    let held = held
    self.held = 0
    let promise = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      if held > 0 { site.largeAnswers.give(back: held) }
      if case .failure = result { return context.close(promise: nil) }
      guard keepsAlive else { return context.close(promise: nil) }
      answering -= 1
      if head == nil, client == nil { wait(site.connections.isNear ? Self.shortIdleTime : Self.idleTime, context) }
    }
  }

  /// A file is sent piece by piece, so that a client that takes nothing is noticed.
  private static let fileStep: Int64 = 4 << 20

  private func sendFile(_ file: SharedFile, _ offset: Int64, _ count: Int64, _ context: ChannelHandlerContext) {
    let step = min(count, Self.fileStep)
    let region = FileRegion(
      fileHandle: file.handle, readerIndex: Int(offset), endIndex: Int(offset + step))
    wait(Self.sendTime(Int(step)), context)
    site.metrics.note(sent: Int(step))
    let promise = context.eventLoop.makePromise(of: Void.self)
    if step == count {
      context.write(wrapOutboundOut(.body(.fileRegion(region))), promise: promise)
      promise.futureResult.assumeIsolated().whenComplete { result in
        withExtendedLifetime(file) { if case .failure = result { context.close(promise: nil) } }
      }
      return finish(context, after: Int(step))
    }
    context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))), promise: promise)
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      if case .failure = result { return context.close(promise: nil) }
      sendFile(file, offset + step, count - step, context)
    }
  }

  /// Sends a stream: the next piece is made while one is sent, and no more.
  private func pump(_ source: any BodySource, _ context: ChannelHandlerContext) {
    let client = self.client ?? Client(in: network)
    self.client = client
    let stream = OutgoingStream(source, client)
    context.flush()
    more(stream, context)
  }

  private func more(_ stream: OutgoingStream, _ context: ChannelHandlerContext) {
    guard !stream.isReading, !stream.isEnded, stream.ready == nil else { return }
    stream.isReading = true
    // How long it takes to make depends on what it is.
    if !stream.isSending { wait(.hours(24), context) }
    let isolated = NIOLoopBound((self, context, stream), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    let source = stream.source
    site.bench.perform(for: stream.client) { () throws(Fault) in
      try source.next()
    } _: { [site] result in
      if site.isEnding { return }
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
          // What is missing must not look like the end.
          connection.site.log("an answer was broken off: \(fault.sentence)")
          context.close(promise: nil)
        }
      }
    }
  }

  private func drain(_ stream: OutgoingStream, _ context: ChannelHandlerContext) {
    if stream.isSending { return }
    guard let buffer = stream.ready.take() else {
      if stream.isEnded { finish(context) }
      return
    }
    stream.isSending = true
    site.metrics.note(sent: buffer.readableBytes)
    wait(Self.sendTime(buffer.readableBytes), context)
    let promise = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      guard case .success = result, client === stream.client else { return context.close(promise: nil) }
      stream.isSending = false
      drain(stream, context)
      more(stream, context)
    }
    more(stream, context)
  }
}
