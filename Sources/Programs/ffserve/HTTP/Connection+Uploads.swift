import Bytes
import NIOCore
import NIOHTTP1

/// The body of a request that is stored as it arrives. Belongs to an event loop.
final class IncomingBody {
  let method: HTTPMethod
  let client: Client
  fileprivate let start: Reception.Start
  /// Whether the client sends the body only when it is told to (RFC 9110, section 10.1.1).
  fileprivate var awaitsPermission: Bool
  fileprivate var sink: (any BodySink)?
  /// The response, if the body is of no use.
  fileprivate var refusal: Response?
  /// The bytes that have not been stored yet.
  fileprivate var bytes = ByteBuffer()
  fileprivate var isComplete = false
  fileprivate var isWorking = false
  /// The number of bytes received in vain.
  fileprivate var dropped = 0

  init(_ method: HTTPMethod, _ client: Client, awaitsPermission: Bool, _ start: @escaping Reception.Start) {
    self.method = method
    self.client = client
    self.awaitsPermission = awaitsPermission
    self.start = start
  }

  /// Whether the maximum number of bytes wait to be stored, so that no more are read.
  var isFull: Bool { bytes.readableBytes >= Self.mostWaiting }

  private static let mostWaiting = 512 << 10
}

/// The reception of bodies that are stored as they arrive, no faster than the disk takes them.
extension Connection {
  /// The time limit for the next bytes of a body.
  private static let bodyTime = TimeAmount.seconds(60)
  /// The maximum size of a refused body after which the connection can be used again, in bytes.
  private static let mostDropped = 1 << 20
  /// The size of the buffer for the socket while a body arrives, in bytes.
  private static let bodyBuffer = 128 << 10

  /// Begins to receive the body of a request that stores it. Does nothing for other requests.
  func beginBody(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    let awaitsPermission =
      head.isCurrent && head.headers["expect"].contains { $0.lowercased() == "100-continue" }
    guard let start = reception(head) else {
      if awaitsPermission { permitBody(context) }
      return
    }
    let incoming = IncomingBody(head.method, Client(in: network), awaitsPermission: awaitsPermission, start)
    self.incoming = incoming
    setReadBuffer(Self.bodyBuffer, context)
    proceed(incoming, context)
  }

  private func permitBody(_ context: ChannelHandlerContext) {
    let text = ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")
    context.writeAndFlush(wrapOutboundOut(.byteBuffer(text)), promise: nil)
  }

  func take(_ part: ByteBuffer, of incoming: IncomingBody, _ context: ChannelHandlerContext) {
    var part = part
    incoming.bytes.writeBuffer(&part)
    proceed(incoming, context)
  }

  func endBody(_ incoming: IncomingBody, _ context: ChannelHandlerContext) {
    incoming.isComplete = true
    markBusy()
    proceed(incoming, context)
  }

  /// Discards the bytes received if the client has left, or has sent something invalid.
  func abandonBody() {
    guard let incoming = incoming.take() else { return }
    incoming.client.leave()
    if !incoming.isWorking { discard(incoming) }
  }

  private func discard(_ incoming: IncomingBody) {
    guard let sink = incoming.sink.take() else { return }
    // Bytes behind those that could not be stored would get the wrong offset.
    let rest = incoming.refusal == nil ? incoming.bytes : ByteBuffer()
    site.bench.submit { sink.discard(rest) }
  }

  /// Takes the next step: opens the file, stores the bytes that have arrived, or ends.
  private func proceed(_ incoming: IncomingBody, _ context: ChannelHandlerContext) {
    if incoming.isWorking { return }
    if let refusal = incoming.refusal {
      incoming.dropped += incoming.bytes.readableBytes
      incoming.bytes = ByteBuffer()
      if incoming.isComplete || incoming.awaitsPermission || incoming.dropped > Self.mostDropped {
        return end(incoming, with: refusal, context)
      }
    } else if let sink = incoming.sink {
      if incoming.bytes.readableBytes > 0 {
        let bytes = incoming.bytes
        incoming.bytes = ByteBuffer()
        site.metrics.note(received: bytes.readableBytes)
        return perform(incoming, context) { () throws(Fault) in
          try sink.write(bytes)
        } _: { _, _, _ in
        }
      }
      if incoming.isComplete {
        return perform(incoming, context) { () throws(Fault) in
          try sink.finish()
        } _: { connection, context, response in
          incoming.sink = nil
          connection.end(incoming, with: response, context)
        }
      }
    } else {
      let start = incoming.start
      return perform(incoming, context) { () throws(Fault) in
        try start()
      } _: { connection, context, reception in
        switch reception {
        case .refused(let response): incoming.refusal = response
        case .sink(let sink):
          incoming.sink = sink
          if incoming.awaitsPermission { connection.permitBody(context) }
          incoming.awaitsPermission = false
        }
      }
    }
    wait(Self.bodyTime)
    readMore(context)
  }

  /// Does blocking work for a body, and then takes the next step.
  private func perform<Value: Sendable>(
    _ incoming: IncomingBody, _ context: ChannelHandlerContext, _ work: @escaping @Sendable () throws(Fault) -> Value,
    _ done: @escaping (Connection, ChannelHandlerContext, Value) -> Void
  ) {
    incoming.isWorking = true
    waitForever()
    readMore(context)
    let isolated = NIOLoopBound((self, context, incoming, done), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    site.bench.perform(for: incoming.client, work) { result in
      loop.execute {
        let (connection, context, incoming, done) = isolated.value
        incoming.isWorking = false
        switch result {
        case .success(let value): done(connection, context, value)
        case .failure where incoming.refusal != nil: connection.discard(incoming)
        case .failure(let fault): incoming.refusal = .problem(fault)
        }
        guard connection.incoming === incoming else { return connection.discard(incoming) }
        if incoming.refusal != nil, let sink = incoming.sink {
          // The client may do the same again as soon as it has the response.
          return connection.perform(incoming, context) { () throws(Fault) in
            sink.discard(ByteBuffer())
          } _: { _, _, _ in
            incoming.sink = nil
          }
        }
        connection.proceed(incoming, context)
      }
    }
  }

  private func end(_ incoming: IncomingBody, with response: Response, _ context: ChannelHandlerContext) {
    guard self.incoming === incoming else { return }
    self.incoming = nil
    // The rest of the body would be taken for the next request.
    if !incoming.isComplete { (keepsAlive, mayStillSend) = (false, true) }
    markBusy()
    setReadBuffer(Self.requestBuffer, context)
    send(response, to: incoming.method, context)
  }
}
