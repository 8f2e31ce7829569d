import Assembly
import Index
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTP2
import TestSupport
import Testing

@testable import ffserve

/// A connection of a server none of whose work on threads is ever done.
@Suite struct ConnectionTests {
  /// Counts the reads that reach the socket.
  private final class ReadCount: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    var count = 0

    func read(context: ChannelHandlerContext) {
      count += 1
      context.read()
    }
  }

  private let folder: SourceFolder
  private let channel: EmbeddedChannel
  private let connection: Connection
  private let reads = ReadCount()

  init() throws {
    folder = try SourceFolder()
    let loop = EmbeddedEventLoop()
    let source = try ShownSource(folder.path)
    let (tree, root) = try source.tree(MountOptions(["rw"]), Index(folder: nil), nil, reserve: 16)
    let access = Access(hosts: HostNames(given: []))
    access.set(owner: .owner(token: nil))
    let bench = BlockingExecutor(atMost: 1, evenHeldUp: 1)
    bench.stop()
    let site = Site(
      tree, root, of: source, access, nil, EventStreams(on: loop), behind: Proxies([]), at: "", bench, long: bench,
      connections: 16, hasTrash: false, showsIndex: false, changeLog: nil, log: { _ in })
    connection = Connection(site, isTLS: false, Deadlines(on: loop))
    channel = EmbeddedChannel(loop: loop)
    try channel.pipeline.syncOperations.addHandlers([reads, connection])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  /// A server that ends need not wait for connections that are between requests.
  @Test func connectionWithoutStreamsEndsWithTheServer() throws {
    connection.streams = 0
    channel.pipeline.fireUserInboundEventTriggered(Draining())
    #expect(!channel.isActive)
  }

  @Test func streamsInProgressEndBeforeTheirConnection() throws {
    connection.streams = 1
    channel.pipeline.fireUserInboundEventTriggered(Draining())
    #expect(channel.isActive)
    let frame = try #require(try channel.readOutbound(as: HTTP2Frame.self))
    guard case .goAway = frame.payload else {
      Issue.record("\(frame.payload)")
      return
    }
  }

  /// A response can take any time, and a client that requests nothing has a limit.
  @Test func connectionWithStreamsHasNoDeadline() {
    connection.streams = 0
    connection.beginStream()
    connection.checkDeadline(.now() + .hours(24))
    #expect(channel.isActive)
    connection.endStream()
    connection.checkDeadline(.now() + .hours(24))
    #expect(!channel.isActive)
  }

  /// A client that cancels a download goes on with the others.
  @Test func errorOfAStreamLeavesItsConnection() {
    connection.streams = 1
    let cause = NIOHTTP2Errors.badClientMagic()
    channel.pipeline.fireErrorCaught(NIOHTTP2Errors.streamError(streamID: 1, baseError: cause))
    #expect(channel.isActive)
    channel.pipeline.fireErrorCaught(cause)
    #expect(!channel.isActive)
  }

  /// A client that sends faster than the disk stores takes no more memory.
  @Test func bodyIsReadNoFasterThanItIsStored() throws {
    let headers = HTTPHeaders([("Host", "localhost"), ("Content-Length", "1048576")])
    try channel.writeInbound(
      HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .PUT, uri: "/dav/a", headers: headers)))
    #expect(connection.incoming != nil)
    for _ in 0..<3 {
      try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(repeating: 0, count: 256 << 10)))
      channel.read()
      // No read follows a second part, with which half a megabyte waits.
      #expect(reads.count == 1)
    }
  }
}
