import Bytes
import NIOCore
import NIOHTTP1
import Synchronization

/// One connection: takes requests in, one after the other, and sends what is answered, no faster than it is read.
final class Connection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  let site: Site
  private let isTLS: Bool
  private var peer = ""
  /// The client's, behind a proxy of the last request.
  var network = Network.unknown
  /// Where the connection comes from; nil for a proxy, which has many.
  private var counted: Network?
  var head: HTTPRequestHead?
  private var body: [UInt8] = []
  private var isTooLarge = false
  /// For whom an answer is being made, while one is.
  var client: Client?
  var keepsAlive = false
  var takesChunks = true
  /// From the end of a request to that of its answer.
  var isAnswering = false
  /// What is counted of `Site.largeAnswers` for the answer, in bytes.
  var held = 0
  /// When the connection is closed unless something happens before.
  private var deadline = NIODeadline.distantFuture
  private var timer: Scheduled<Void>?

  /// Bodies are XML that asks for properties, at most.
  private static let largestBody = 64 << 10
  /// For a request to arrive once it has begun, and for a new connection's first.
  private static let requestTime = TimeAmount.seconds(15)
  /// Between requests.
  static let idleTime = TimeAmount.seconds(120)
  /// The same when others need the room.
  static let shortIdleTime = TimeAmount.seconds(10)
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
  var answering = 0

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
  func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
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
}
