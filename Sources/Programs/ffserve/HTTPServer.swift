import Assembly
import Bytes
import FileTrees
import Files
import Glibc
import Index
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RenditionViews
import Tree

/// Serves until it is interrupted.
struct HTTPServer {
  private let options: ServeOptions
  private let isTLS: Bool

  init(_ options: ServeOptions) {
    self.options = options
    isTLS = !options.tls.isEmpty
  }

  /// The number of the process's descriptors reserved for files, workers and the rest.
  private static let keptDescriptors = 1024
  private static let mostConnections = 16_384
  /// The number of threads for the tree, usually and while some are blocked.
  private static let workers = (usual: min(16, max(4, 2 * System.coreCount)), most: 192)
  /// The number of threads for searches, usually and while some are blocked.
  private static let searchers = (usual: 2, most: 32)
  /// The interval at which idle caches are tidied. Expired entries are kept for at most twice as long.
  private static let tidyTime = TimeAmount.seconds(1)
  /// The maximum time for responses to end, in seconds.
  private static let blocking: UInt32 = 2

  /// Runs the server. Blocks until SIGINT or SIGTERM arrives, or the terminal is closed.
  func run() throws {
    var signals = sigset_t()
    _ = unsafe sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] { _ = unsafe sigaddset(&signals, signal) }
    _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    var logger = Logger(label: "ffmount") { _ in TerminalLogHandler() }
    logger.logLevel = .notice
    let given = try GivenToken.find(options)
    let source = try ShownSource(options.source)
    let mountOptions = try MountOptions(options.options)
    try mountOptions.checkUse(.served)
    try mountOptions.checkWriting()
    let changeLog = try options.log.map { try ChangeLog($0) }
    mountOptions.passwordFile?.log(by: { [logger] line in logger.warning("\(line)") })
    let cacheFolder = CacheFolder.path()
    let index = Index(folder: cacheFolder)
    let conversions = try Converter.conversions(
      mountOptions, index: index, cacheFolder: cacheFolder, spools: ShownSource.spoolFolder, logger)
    let limit = DescriptorPool.processLimit
    let connections = max(16, min(Self.mostConnections, limit - min(Self.keptDescriptors, limit / 2)))
    let (tree, root) = try source.tree(
      mountOptions, index, conversions, reserve: ShownSource.reserve(mountOptions, conversions) + connections)

    let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    let token = given ?? (isOpen || options.users != nil ? nil : Secret.random())
    let visits = options.users.map { Visits(beside: $0) }
    let access = Access(hosts: HostNames(given: options.name + [options.host]), visits, origins: options.cors)
    let users = options.users.map { path in
      AccountStore(at: path, visits ?? Visits(beside: path)) { access.set(users: $0) }
    }
    if token != nil || isOpen { access.set(owner: .owner(token: token)) }
    let proxies = Proxies(options.proxies, hasSocket: options.socketPath != nil)
    let bench = BlockingExecutor(atMost: Self.workers.usual, evenHeldUp: Self.workers.most)
    let longBench = BlockingExecutor(atMost: Self.searchers.usual, evenHeldUp: Self.searchers.most)
    let log: @Sendable (String) -> Void = { [logger] line in logger.notice("\(line)") }
    let certificates = Certificates(options.tls)
    let settings = try FileSettings(fileSettings(access, users, certificates))
    let site = Site(
      tree, root, of: source, access, users, EventStreams(on: group.next()), behind: proxies, at: options.prefix, bench,
      long: longBench,
      connections: connections,
      hasTrash: !options.noTrash, showsIndex: options.index, changeLog: changeLog, log: log)
    site.streams.begin(site)
    let listening = try listen(group, site, certificates)
    group.next().scheduleRepeatedTask(initialDelay: Self.tidyTime, delay: Self.tidyTime) { _ in
      site.tidy()
      if !settings.areNone { bench.submit { settings.renew(log: log) } }
    }
    if mountOptions.indexesWhileIdle { tree.indexWhileIdle() }
    StartupMessage(
      source: source.path, scheme: isTLS ? "https" : "http", host: options.host, port: listening.port,
      path: options.prefix,
      token: token
    ).show()
    let announcer = announcer(listening, site, needsToken: token != nil || options.users != nil, logger)

    let hadTerminal = Self.hasTerminal
    var signal: Int32 = 0
    repeat {
      if signal == SIGHUP { bench.submit { settings.renew(isForced: true, log: log) } }
      _ = unsafe sigwait(&signals, &signal)
      // The hang-up of its terminal ends a server.
    } while signal == SIGHUP && !(hadTerminal && !Self.hasTerminal)
    site.end()
    users?.visits.save()
    announcer?.end()
    // The server accepts no more connections, so that load balancers use another one.
    try? listening.channel.close().wait()
    if let path = options.socketPath { _ = unsafe unlink(path) }
    drain(site.connections, signal, signals)
    Self.exit(after: Self.blocking)
    tree.stop()
    // The event loops run until the results of jobs have been delivered.
    bench.stop()
    longBench.stop()
    try? group.syncShutdownGracefully()
    index.finish(within: .seconds(1))
  }

  /// Returns `nil` if the server is not announced, or not reachable by other machines.
  private func announcer(_ listening: Listening, _ site: Site, needsToken: Bool, _ logger: Logger) -> Announcer? {
    let address = listening.channel.localAddress
    guard !options.noBonjour,
      let announcement = Announcement(of: site.name, at: address, isTLS: isTLS, needsToken: needsToken)
    else { return nil }
    return Announcer(announcement) { news in
      switch news {
      case .announced(let name): logger.notice("announced in the local network as “\(name)”")
      case .host(let name): site.access.add(name: name)
      case .gaveUp(let reason): logger.warning("not announced in the local network: \(reason)")
      }
    }
  }

  /// The settings in the files that options name.
  private func fileSettings(
    _ access: Access, _ users: AccountStore?, _ certificates: Certificates
  ) throws -> [FileSetting] {
    var settings: [FileSetting] = []
    if isTLS { settings.append(try FileSetting("--tls", in: options.tls) { try certificates.read() }) }
    // A pipe can be read only once.
    if let path = options.tokenFile, GivenToken.isFile(path) {
      settings.append(
        try FileSetting("--token-file", in: [path]) { access.set(owner: .owner(token: try Token.read(from: path))) })
    }
    if let path = options.users, let users {
      settings.append(try FileSetting("--users", in: [path]) { try users.read() })
    }
    return settings
  }

  /// Whether the process has a terminal that controls it.
  private static var hasTerminal: Bool {
    let raw = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    if raw >= 0 { close(raw) }
    return raw >= 0
  }

  /// Lets responses in progress finish after SIGTERM, for as long as the options permit, or until another signal
  /// arrives.
  private func drain(_ connections: ConnectionLimit, _ signal: Int32, _ signals: sigset_t) {
    guard signal == SIGTERM, options.drain > 0 else { return }
    var signals = signals
    _ = unsafe sigaddset(&signals, SIGUSR1)
    _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let here = pthread_self()
    connections.drain { _ = pthread_kill(here, SIGUSR1) }
    var limit = Timestamp(seconds: Int64(options.drain), nanoseconds: 0).timespec
    _ = unsafe sigtimedwait(&signals, nil, &limit)
  }

  /// Whether all clients have access. Behind a proxy, they are not limited to users of this machine.
  var isOpen: Bool { options.users == nil && (options.noToken || isLoopback && options.proxy.isEmpty) }

  private var isLoopback: Bool {
    options.host == "localhost" || options.host == "::1" || options.host.hasPrefix("127.")
  }

  /// Exits the process after `seconds`, regardless of work in progress.
  private static func exit(after seconds: UInt32) {
    signal(SIGALRM) { _ in _exit(0) }
    alarm(seconds)
  }

  private struct Listening {
    let channel: any Channel
    let port: Int
  }

  private func listen(
    _ group: MultiThreadedEventLoopGroup, _ site: Site, _ certificates: Certificates
  ) throws -> Listening {
    let isTLS = isTLS
    let deadlines = Dictionary(
      uniqueKeysWithValues: group.makeIterator().map { (ObjectIdentifier($0), Deadlines(on: $0)) })
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          guard let deadlines = deadlines[ObjectIdentifier(channel.eventLoop)] else { throw ChannelError.eof }
          try pipeline.addHTTP(Connection(site, isTLS: isTLS, deadlines), certificates.context)
        }
      }
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Connection.requestBuffer)
      )
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
    if let path = options.socketPath { return try listen(at: path, bootstrap) }
    do {
      let channel = try bootstrap.childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: options.host, port: options.port).wait()
      return Listening(channel: channel, port: channel.localAddress?.port ?? options.port)
    } catch {
      throw Refusal(.failure, "cannot listen on \(options.host), port \(options.port): \(Self.reason(error))")
    }
  }

  /// Listens on a Unix socket, which replaces that of a server that has ended. Members of its group can connect.
  private func listen(at path: String, _ bootstrap: ServerBootstrap) throws -> Listening {
    func failure(_ reason: String) -> Refusal { Refusal(.failure, "cannot listen on unix:\(path): \(reason)") }
    if UnixSocket.isServed(path) { throw failure("another server listens there (choose another path with --host)") }
    do {
      let channel = try bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).wait()
      _ = unsafe chmod(path, 0o660)
      return Listening(channel: channel, port: 0)
    } catch {
      let reason =
        switch error {
        case let error as IOError: describe(error.errnoCode)
        case is UnixDomainSocketPathWrongType: "a file that is not a socket has this name"
        default: "\(error)"
        }
      throw failure("\(reason) (choose another path with --host)")
    }
  }

  /// Returns the reason why an address cannot be bound, and the remedy in parentheses.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case is SocketAddressError, is SocketAddressError.UnknownHost:
      return "no address has this name (give one of this machine's with --host)"
    case let error as IOError:
      let code = error.errnoCode
      let advice =
        switch code {
        case EADDRNOTAVAIL: "this machine does not have it; 0.0.0.0 and :: stand for all addresses of this machine"
        case EADDRINUSE: "choose another port with --port"
        case EACCES: "only root can use ports below 1024; choose another with --port"
        default: "choose another address with --host and --port"
        }
      return "\(describe(code)) (\(advice))"
    default: return "\(error) (choose another address with --host and --port)"
    }
  }
}
