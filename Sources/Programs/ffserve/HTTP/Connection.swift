import Bytes
import NIOCore
import NIOHTTP1
import Synchronization

/// One connection: takes requests in, one after the other, and sends what is answered, no faster than it is read.
final class Connection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let site: Site
  private let isTLS: Bool
  private var peer = ""
  /// The client's, behind a proxy of the last request.
  private var network = Network.unknown
  /// Where the connection comes from; nil for a proxy, which has many.
  private var counted: Network?
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []
  private var isTooLarge = false
  /// For whom an answer is being made, while one is.
  private var client: Client?
  private var keepsAlive = false
  private var takesChunks = true
  /// From the end of a request to that of its answer.
  private var isAnswering = false
  /// What is counted of `Site.largeAnswers` for the answer, in bytes.
  private var held = 0
  /// When the connection is closed unless something happens before.
  private var deadline = NIODeadline.distantFuture
  private var timer: Scheduled<Void>?

  /// Bodies are XML that asks for properties, at most.
  private static let largestBody = 64 << 10
  /// For a request to arrive once it has begun, and for a new connection's first.
  private static let requestTime = TimeAmount.seconds(15)
  /// Between requests.
  private static let idleTime = TimeAmount.seconds(120)
  /// The same when others need the room.
  private static let shortIdleTime = TimeAmount.seconds(10)
  /// For a client to take a piece of an answer: a minute, and as long as it takes at 16 KiB a second.
  private static func sendTime(_ count: Int) -> TimeAmount { .seconds(60 + Int64(count >> 14)) }

  /// Of a target; with it, paths of 4,096 bytes can be asked for, however they are encoded.
  private static let longestTarget = 16 << 10

  init(_ site: Site, isTLS: Bool) {
    self.site = site
    self.isTLS = isTLS
  }

  // MARK: Coming and going

  func channelActive(context: ChannelHandlerContext) {
    peer = context.remoteAddress?.ipAddress ?? ""
    network = Network(peer)
    counted = site.proxies.contains(peer) ? nil : network
    guard site.connections.enter(context.channel, of: counted) else { return context.close(promise: nil) }
    isCounted = true
    wait(Self.requestTime, context)
  }

  private var isCounted = false
  /// How many requests have come that have not been answered to the end.
  private var answering = 0

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is Draining else { return context.fireUserInboundEventTriggered(event) }
    keepsAlive = false
    if answering == 0, head == nil { context.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    client?.leave()
    client = nil
    if isCounted { site.connections.leave(context.channel, of: counted) }
    isCounted = false
    giveBack()
  }

  /// What is no request is told so, unless an answer is under way, and nothing after it is read.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError, !isAnswering, context.channel.isActive else {
      return context.close(promise: nil)
    }
    (head, body, keepsAlive, isAnswering) = (nil, [], false, true)
    send(
      error == .headerOverflow
        ? .problem(.requestHeaderFieldsTooLarge, "the request's headers are longer than 32 KiB, or more than 100")
        : .problem(.badRequest, "this is no request of HTTP/1.1"), to: .GET, context)
  }

  private func giveBack() {
    if held > 0 { site.largeAnswers.give(back: held) }
    held = 0
  }

  /// Closes the connection after a time, unless told to wait again before. A timer runs to its end and is then set anew:
  /// a request costs none.
  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let before = deadline
    deadline = .now() + time
    if timer == nil || deadline < before { arm(context) }
  }

  private func arm(_ context: ChannelHandlerContext) {
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
      guard let self else { return }
      timer = nil
      if .now() >= deadline { context.close(promise: nil) } else { arm(context) }
    }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      body = []
      isTooLarge = false
      wait(Self.requestTime, context)
    case .body(var part):
      guard !isTooLarge, body.count + part.readableBytes <= Self.largestBody else {
        isTooLarge = true
        body = []
        return
      }
      body += part.readBytes(length: part.readableBytes) ?? []
    case .end: answer(context)
    }
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let head = head.take() else { return }
    keepsAlive = head.isKeepAlive && !site.isEnding
    (isAnswering, takesChunks) = (true, head.version == .http1_1)
    answering += 1
    if isTooLarge {
      keepsAlive = false
      return send(.problem(.payloadTooLarge, "a body has at most 64 KiB"), to: head.method, context)
    }
    if head.uri.utf8.count > Self.longestTarget {
      return send(.problem(.uriTooLong, "an address has at most 16 KiB"), to: head.method, context)
    }
    // Somebody between may have read it otherwise (RFC 9112, section 6.1).
    if head.version != .http1_1, head.headers.contains(name: "transfer-encoding") {
      keepsAlive = false
      return send(.problem(.badRequest, "HTTP/1.0 has no Transfer-Encoding"), to: head.method, context)
    }
    let request = Request(head, body: body, isTLS: isTLS, peer: peer, behind: site.proxies)
    if counted == nil { network = Network(request.peer) }
    body = []
    wait(.hours(24), context)
    switch site.answer(request) {
    case .now(let response): send(response, to: head.method, context)
    case .later(let work): make(work, on: site.bench, for: head.method, context)
    case .long(let work): make(work, on: site.longBench, for: head.method, context)
    }
  }

  private func make(
    _ work: @escaping @Sendable () throws(Fault) -> Response, on bench: Bench, for method: HTTPMethod,
    _ context: ChannelHandlerContext
  ) {
    let client = Client(in: network)
    self.client = client
    let isolated = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    bench.perform(for: client, work) { [site] result in
      // No loop may be there any more.
      if site.isEnding { return }
      loop.execute {
        let (connection, context) = isolated.value
        guard connection.client === client else { return }
        switch result {
        case .success(let response): connection.send(response, to: method, context)
        case .failure(let fault): connection.send(.problem(fault), to: method, context)
        }
      }
    }
  }

  // MARK: Answers

  private func send(_ response: Response, to method: HTTPMethod, _ context: ChannelHandlerContext) {
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
