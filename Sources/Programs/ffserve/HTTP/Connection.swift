import Bytes
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOTLS

/// A connection, which receives requests one after the other and sends responses no faster than the client reads.
///
/// It writes bytes, and does itself what four other handlers of NIOHTTP1 would do, so that a connection costs little.
/// The next request is neither processed nor read from the socket before the response has been sent.
///
/// A connection whose client chooses HTTP/2 carries streams, each of which is one of these for a single request.
final class Connection: ChannelInboundHandler, ChannelOutboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  let site: Site
  private let isTLS: Bool
  let deadlines: Deadlines
  /// The connection with this stream of HTTP/2. Nil for a connection by itself.
  let carrier: Connection?
  /// The number of open streams. Nil for a connection that has none because it is not of HTTP/2.
  var streams: Int?
  private var peer = ""
  /// The client's network. Behind a proxy, that of the last request.
  private(set) var network = Network.unknown
  /// The network that the connection is counted for. Nil for a proxy, which has many clients.
  private var counted: Network?
  private var isCounted = false
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []
  private var isTooLarge = false
  /// Parts of the next requests that arrived before the response was sent, from one read at most.
  private var waiting: [HTTPServerRequestPart] = []
  private var isTaking = false
  private var isReadWanted = false
  /// The body that is currently received and stored.
  var incoming: IncomingBody?
  /// The response to subsequent bytes that are not HTTP.
  private var complaint: Response?
  /// Whether a request is being answered.
  private var isBusy = false
  /// The client of the response in progress.
  var client: Client?
  /// Whether the client may still send bytes of a request that is answered, or that is not HTTP.
  var mayStillSend = false
  /// The number of bytes discarded since the last response. Nil before that.
  private var discarded: Int?
  /// The origin whose scripts may read the response in progress. Nil for the server's own.
  var origin: String?
  /// Whether another request can follow.
  var keepsAlive = false
  /// Whether the client supports chunked transfer coding (RFC 9112, section 7.1), which marks the end of a body of
  /// unknown length.
  var takesChunks = true
  /// The time at which the connection is closed unless something happens before.
  private var deadline = NIODeadline.distantFuture
  /// The index in `deadlines`.
  var place = 0
  private(set) var context: ChannelHandlerContext?

  /// The maximum size of a body that is not stored, in bytes. It is at most XML with properties.
  private static let largestBody = 64 << 10
  /// The time limit for a request to arrive once it has begun, and for the first one of a connection.
  private static let requestTime = TimeAmount.seconds(15)
  /// The time limit between requests.
  private static let idleTime = TimeAmount.seconds(120)
  /// The time limit between requests when connections are scarce.
  private static let shortIdleTime = TimeAmount.seconds(10)
  /// The size of the buffer for the socket, in bytes. Each connection keeps such a buffer, and most requests fit.
  static let requestBuffer = 1024
  /// The limits for discarding bytes after the last response, in bytes and as a time.
  private static let lingering = (bytes: 64 << 20, time: TimeAmount.seconds(10), buffer: 64 << 10)
  /// The maximum length of a target, in bytes. Paths of 4,096 bytes fit in any encoding.
  private static let longestTarget = 16 << 10

  init(_ site: Site, isTLS: Bool, _ deadlines: Deadlines, in carrier: Connection? = nil) {
    self.site = site
    self.isTLS = isTLS
    self.deadlines = deadlines
    self.carrier = carrier
  }

  /// Whether this is a stream of HTTP/2.
  var isStream: Bool { carrier != nil }

  // MARK: Connecting and disconnecting

  func channelActive(context: ChannelHandlerContext) {
    peer = carrier?.peer ?? context.remoteAddress?.ipAddress ?? ""
    network = Network(peer)
    counted = site.proxies.contains(peer) ? nil : network
    guard site.connections.enter(context.channel, of: counted) else { return context.close(promise: nil) }
    isCounted = true
    self.context = context
    deadlines.add(self)
    carrier?.beginStream()
    wait(Self.requestTime)
  }

  func channelInactive(context: ChannelHandlerContext) {
    client?.leave()
    client = nil
    abandonBody()
    self.context = nil
    guard isCounted else { return }
    isCounted = false
    site.connections.leave(context.channel, of: counted)
    deadlines.remove(self)
    carrier?.endStream()
  }

  /// Ends the connection when the server ends, after the response in progress. Begins to read requests after the
  /// handshake of TLS, by HTTP/2 if the client chooses it.
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted(let choice)? = event as? TLSUserEvent {
      if choice == "h2" { return carryStreams(context) }
      do { try context.pipeline.syncOperations.addDecoder(before: self) } catch { context.close(promise: nil) }
      return
    }
    guard event is Draining else { return context.fireUserInboundEventTriggered(event) }
    if streams != nil { return endStreams(context) }
    keepsAlive = false
    if !isBusy, head == nil, incoming == nil { context.close(promise: nil) }
  }

  /// Reports bytes that are not HTTP, after the responses to earlier requests.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Bytes after invalid ones.
    if case .dataReceivedInErrorState(_, let bytes)? = error as? ByteToMessageDecoderError {
      if discarded != nil { discard(bytes.readableBytes, context) }
      return
    }
    // An error of a stream ends that stream only.
    if streams != nil, error is NIOHTTP2Errors.StreamError { return }
    guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
    complaint =
      error == .headerOverflow
      ? .problem(.requestHeaderFieldsTooLarge, "the request has more than 32 KiB of headers, or more than 100")
      : .problem(.badRequest, "not a valid HTTP request")
    if !isBusy { complain(context) }
  }

  private func complain(_ context: ChannelHandlerContext) {
    guard let complaint, context.channel.isActive else { return context.close(promise: nil) }
    abandonBody()
    (head, body, isBusy, keepsAlive, mayStillSend) = (nil, [], true, false, true)
    send(complaint, to: .GET, context)
  }

  /// Waits for the next request, for less time when connections are scarce.
  func waitForRequest() { wait(site.connections.isNear ? Self.shortIdleTime : Self.idleTime) }

  /// Closes the connection after a time, to the second, unless called again before.
  func wait(_ time: TimeAmount) { deadline = .now() + time }

  /// Waits without a limit.
  func waitForever() { deadline = .distantFuture }

  func checkDeadline(_ now: NIODeadline) { if deadline <= now { context?.close(promise: nil) } }

  // MARK: Requests

  func read(context: ChannelHandlerContext) {
    if isBusy || incoming?.isFull ?? false { isReadWanted = true } else { context.read() }
  }

  /// Continues to read if that was delayed, and is permitted again.
  func readMore(_ context: ChannelHandlerContext) {
    guard isReadWanted, !isBusy, !(incoming?.isFull ?? false) else { return }
    isReadWanted = false
    context.read()
  }

  /// Delays the next request until the response has been sent.
  func markBusy() { isBusy = true }

  func setReadBuffer(_ size: Int, _ context: ChannelHandlerContext) {
    if isStream { return }
    _ = context.channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: size))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The frames that belong to no stream.
    if streams != nil { return }
    let part = unwrapInboundIn(data)
    if discarded != nil {
      if case .body(let bytes) = part { discard(bytes.readableBytes, context) }
      return
    }
    if isBusy { waiting.append(part) } else { take(part, context) }
  }

  private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
    switch part {
    case .head(let head):
      self.head = head
      body = []
      isTooLarge = false
      wait(Self.requestTime)
      beginBody(head, context)
    case .body(var part):
      if let incoming { return take(part, of: incoming, context) }
      guard !isTooLarge, body.count + part.readableBytes <= Self.largestBody else {
        // The rest is of no use.
        isTooLarge = true
        mayStillSend = true
        return answer(context)
      }
      body += part.readBytes(length: part.readableBytes) ?? []
    case .end:
      if let incoming {
        head = nil
        return endBody(incoming, context)
      }
      answer(context)
    }
  }

  /// Returns how the body of a request is received that stores it. Returns `nil` for other requests, and malformed ones,
  /// which are answered at their end.
  func reception(_ head: HTTPRequestHead) -> Reception.Start? {
    guard Site.storesBody(head.method), head.isCurrent, head.uri.utf8.count <= Self.longestTarget else {
      return nil
    }
    let request = HTTPRequest(head, body: [], isTLS: isTLS, peer: peer, behind: site.proxies, prefix: site.prefix)
    guard let start = site.reception(of: request) else { return nil }
    if counted == nil { network = Network(request.peer) }
    origin = site.access.origin(of: request)
    keepsAlive = head.isKeepAlive && !site.isEnding && !isStream
    takesChunks = !isStream
    return start
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let head = head.take() else { return }
    isBusy = true
    origin = nil
    keepsAlive = head.isKeepAlive && !site.isEnding && !isStream
    takesChunks = head.version == .http1_1
    if isTooLarge {
      keepsAlive = false
      return send(.problem(.payloadTooLarge, "the body is longer than 64 KiB"), to: head.method, context)
    }
    if head.uri.utf8.count > Self.longestTarget {
      return send(.problem(.uriTooLong, "the address is longer than 16 KiB"), to: head.method, context)
    }
    // An intermediary may have interpreted it differently (RFC 9112, section 6.1).
    if !head.isCurrent, head.headers.contains(name: "transfer-encoding") {
      keepsAlive = false
      return send(.problem(.badRequest, "HTTP/1.0 has no Transfer-Encoding"), to: head.method, context)
    }
    let request = HTTPRequest(head, body: body, isTLS: isTLS, peer: peer, behind: site.proxies, prefix: site.prefix)
    if counted == nil { network = Network(request.peer) }
    origin = site.access.origin(of: request)
    body = []
    waitForever()
    switch site.answer(request) {
    case .now(let response): send(response, to: head.method, context)
    case .later(let work): make(work, on: site.bench, for: head.method, context)
    case .long(let work): make(work, on: site.longBench, for: head.method, context)
    }
  }

  private func make(
    _ work: @escaping @Sendable () throws(Fault) -> Response, on bench: BlockingExecutor, for method: HTTPMethod,
    _ context: ChannelHandlerContext
  ) {
    let client = Client(in: network)
    self.client = client
    let isolated = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    bench.perform(for: client) { () throws(Fault) in
      try work().prepared()
    } _: { result in
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

  /// Continues with the next request, or closes the connection, after a response has been sent.
  func sent(_ context: ChannelHandlerContext) {
    guard keepsAlive else { return mayStillSend || isStream ? linger(context) : context.close(promise: nil) }
    isBusy = false
    waitForRequest()
    // A call from within the loop below leaves the waiting parts to it.
    if isTaking { return }
    isTaking = true
    while !isBusy, !waiting.isEmpty { take(waiting.removeFirst(), context) }
    isTaking = false
    if !isBusy, complaint != nil { return complain(context) }
    readMore(context)
  }

  // MARK: The end

  /// Ends the connection so that the client can read the response although it still sends a request. Closing at once
  /// would discard the response (RFC 9112, section 9.6). A stream ends when both sides have ended it.
  private func linger(_ context: ChannelHandlerContext) {
    discarded = 0
    isBusy = false
    waiting = []
    wait(Self.lingering.time)
    setReadBuffer(Self.lingering.buffer, context)
    if !isStream { context.close(mode: .output, promise: nil) }
    readMore(context)
  }

  private func discard(_ count: Int, _ context: ChannelHandlerContext) {
    discarded = (discarded ?? 0) + count
    if (discarded ?? 0) > Self.lingering.bytes { context.close(promise: nil) }
  }
}
