import Assembly
import Bytes
import FileTrees
import Glibc
import Locks
import ServerAnswers
import Text
import Threads

/// The mounted server: its connection, its token, and the cache of its responses.
final class RemoteServer: Sendable {
  let address: ServerAddress
  let interface: any RemoteInterface
  let availability: Availability
  let wire: any Wire
  let links: LinkPolicy
  /// The maximum time that a request waits for an unreachable or busy server, in seconds.
  let waitSeconds: Int
  /// The listings by path. Their cost is the memory of the entries.
  let listings: LRUCache<[UInt8], Snapshot>
  /// The file records by path.
  let files: LRUCache<[UInt8], FileRecord>
  let streams = StreamLimit()
  /// The folders whose changes the server reports. Nil for servers that report none.
  let live: LiveFolders?
  /// The changes of this mount. Nil if it is read-only.
  let changes: OwnChanges?
  /// The copies of files that the server does not send in parts. Nil without `-o download`.
  let downloads: Downloads?
  /// The data of the source that is kept between mounts. Nil if none is.
  let kept: KeptSource?
  /// The threads that parse large responses and read local files.
  let helpers = ThreadPool(atMost: 2)
  private let tokenFile: Passwords?
  private let held: UnfairLock<String?>
  private let roots = UnfairLock(Roots())
  /// The listings of a bucket. Nil for other servers.
  let walk: FolderWalk?

  /// The small files that are requested together. Nil if the server sends the bytes of one at a time, or they are kept.
  let smallFiles: SmallFileFolders?

  /// The last request for the space of the server's file system.
  private let space = UnfairLock<SharedFetch<Space?>?>(nil)

  typealias Space = (available: Int64, used: Int64)

  private struct Roots: Sendable {
    var item: ServerItem?
    var fetch: SharedFetch<ServerItem?>?
  }

  /// The time for which bytes are kept at least, and after which a reader is no longer active, in nanoseconds.
  static let lifetime: UInt64 = 500_000_000
  /// The maximum size of an item's attributes, and of responses parsed on the thread of all requests, in bytes.
  static let largestItem = 64 << 10
  private static let rootPath = [UInt8(ascii: "/")]
  /// The time limit for the root's attributes, in milliseconds.
  private static let longestLook = 5000
  /// The capacity of the cache of file records, in bytes.
  private static let filesCapacity = 32 << 20

  /// - Parameter settings: those of all requests.
  convenience init(
    _ address: ServerAddress, _ interface: any RemoteInterface, _ settings: WireSettings, _ options: MountOptions,
    _ kept: KeptSource? = nil
  ) throws {
    if let kept, kept.isOffline {
      try self.init(address, interface, OfflineWire(), options, kept)
      return
    }
    // The probe needs no work: any server answers it at once.
    var probe = interface is ServerInterface ? HTTPExchange("/api/") : interface.item(at: [UInt8(ascii: "/")])
    probe.limit = 4000
    let wire = try HTTPClient(settings, silence: options.server.wait) { [probe] wire in
      wire.start(probe, token: nil, SignOfLife())
    }
    try self.init(address, interface, wire, options, kept)
  }

  init(
    _ address: ServerAddress, _ interface: any RemoteInterface, _ wire: any Wire, _ options: MountOptions,
    _ kept: KeptSource? = nil
  ) throws {
    self.wire = wire
    self.kept = kept
    self.address = address
    self.interface = interface
    links = options.showsAllLinks ? .all : .inside
    waitSeconds = options.server.wait
    availability = Availability(address.text, wait: options.server.wait, advice: interface.advice)
    tokenFile = options.server.token
    held = UnfairLock(try Self.token(of: options.server.token))
    changes = options.isWritable && interface is ServerInterface ? OwnChanges(in: TreeSource.spoolFolder) : nil
    downloads =
      options.server.downloads ? Downloads(in: TreeSource.spoolFolder, limit: max(0, options.cacheSize)) : nil
    live = interface is ServerInterface ? LiveFolders() : nil
    smallFiles = interface is ServerInterface && kept == nil ? SmallFileFolders() : nil
    walk = (interface as? S3Folder).map { FolderWalk($0) }
    listings = LRUCache(capacity: Int(min(options.memory, 1 << 30)) / 2)
    files = LRUCache(capacity: Self.filesCapacity)
  }

  /// Ends all requests. Waiters get an error.
  func stop() {
    changes?.threads.stop()
    wire.stop()
    helpers.stop()
  }

  // MARK: The token

  /// The access token. Nil if the server requires none.
  var token: String? { held.withLock { $0 } }

  var mayHaveNewToken: Bool { tokenFile != nil }

  func rereadToken(_ done: @escaping @Sendable () -> Void) {
    helpers.submit { [self] in
      if let new = try? Self.token(of: tokenFile) { held.withLock { $0 = new } }
      done()
    }
  }

  private static func token(of file: Passwords?) throws -> String? {
    guard let line = file?.now.passwords.first else { return nil }
    guard line.count <= 1024, line.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw Refusal(.usage, "-o token_file: the first line is not a token: it contains blanks or non-ASCII characters")
    }
    return String(decoding: line, as: UTF8.self)
  }

  /// Calls `body` on a thread that may block on local files.
  func help(_ body: @escaping @Sendable () -> Void) { helpers.submit(body) }

  // MARK: Calls

  /// Requests one item, whose name is `name`. The result is nil if it does not exist.
  func item(
    at path: [UInt8], named name: FileName, isRepeated: Bool = true, limit: Int? = nil
  ) -> SharedFetch<ServerItem?> {
    let fetch = SharedFetch<ServerItem?>(lifetime: interface.lifetime)
    if let known = interface.known(at: path) {
      fetch.finish(.success(known))
      return fetch
    }
    if let kept, kept.isOffline {
      help { [self] in
        var item = kept.item(at: path)
        item?.name = name
        fetch.finish(item.map { .success($0) } ?? .failure(absence))
      }
      return fetch
    }
    var exchange = interface.item(at: path)
    exchange.limit = limit
    let call = RepeatedRequest(
      self, exchange, limit: Self.largestItem, takesStart: interface.takesStartOfItems, isRepeated: isRepeated
    ) { [self] result in
      fetch.finish(
        Result { () throws(Fault) in
          let answer = try result.get()
          if answer.head.status == 404 { return nil }
          guard answer.isSuccess else { throw fault(answer) }
          var item = try interface.item(answer, at: path)
          item?.name = name
          if let full = item { item = keepContent(of: full, at: path, askedAt: fetch.begun) }
          if let item, !interface.listsAttributes { kept?.keep(item, at: path) }
          return item
        })
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
    return fetch
  }

  /// Records the bytes of a small file that have arrived with its attributes. Returns the item without them.
  @discardableResult
  func keepContent(of item: ServerItem, at path: [UInt8], askedAt begun: UInt64) -> ServerItem {
    guard let content = item.content else { return item }
    FileRecord.of(path, self).keep(
      OpenedFile(content, modified: item.modified.seconds), askedAt: begun, isPlain: item.view == nil)
    var item = item
    item.content = nil
    return item
  }

  /// Records the root that was found before the mount.
  func begin(with root: ServerItem) {
    let fetch = SharedFetch<ServerItem?>(lifetime: interface.lifetime)
    fetch.finish(.success(root))
    roots.withLock { $0 = Roots(item: root, fetch: fetch) }
    kept?.keep(root, at: Self.rootPath)
  }

  /// The root that was found before the mount. Nil for most servers.
  var beginning: ServerItem? { roots.withLock { $0.item } }

  /// Returns the attributes of the root, initially `known`. Waits only briefly, and not for an unreachable server, so
  /// that its mount can still be accessed and unmounted.
  func root(knowing known: ServerItem, _ blocking: BlockingMode) throws(Fault) -> ServerItem {
    if let known = interface.known(at: [UInt8(ascii: "/")]) { return known }
    let isAway = availability.isAway
    let (item, fetch): (ServerItem?, SharedFetch<ServerItem?>?) = roots.withLock { roots in
      if let fetch = roots.fetch, let end = fetch.end {
        if let item = try? fetch.value(.immediate) { roots.item = item }
        let isOfPresent = changes.map { fetch.begun > $0.last(of: Self.rootPath, isView: false) } ?? true
        if isOfPresent, HTTPClient.now < end || live?.isCurrent(Self.rootPath, since: fetch.begun) ?? false {
          return (roots.item ?? known, nil)
        }
        roots.fetch = nil
      }
      let fetch =
        roots.fetch
        ?? self.item(at: [UInt8(ascii: "/")], named: "", isRepeated: false, limit: Self.longestLook)
      roots.fetch = fetch
      return (isAway || blocking == .blocking ? roots.item ?? known : nil, fetch)
    }
    if let item { return item }
    guard let fetch else { throw .later }
    live?.want(Self.rootPath, self)
    throw Fault(.pending(fetch.pending))
  }

  /// Returns the space of the server's file system, in bytes. Returns `nil` if the server does not report it, or not soon.
  func space(_ blocking: BlockingMode) throws(Fault) -> Space? {
    guard interface is ServerInterface, !availability.isAway else { return nil }
    let (fetch, isNew) = space.withLock { space in
      if let space, space.isUsable, space.begun > changes?.latest ?? 0 { return (space, false) }
      let fetch = SharedFetch<Space?>(lifetime: interface.lifetime)
      space = fetch
      return (fetch, true)
    }
    if isNew {
      var exchange = HTTPExchange("/api/space")
      exchange.limit = Self.longestLook
      let call = RepeatedRequest(self, exchange, limit: Self.largestItem, isRepeated: false) { result in
        fetch.finish(
          .success(
            (try? result.get()).flatMap { answer in answer.isSuccess ? try? ServerAnswer.space(answer.body) : nil }))
      }
      fetch.whenAbandoned { call.cancel() }
      call.start()
    }
    return try fetch.value(blocking)
  }

  // MARK: Failures

  /// The fault of a read of a file of which the server does not send parts.
  var lacksParts: Fault {
    Fault(
      .system(EIO), "the server \(address.text) does not send parts of files (to copy the whole file: -o download)")
  }

  /// The fault of a request for data that an offline mount does not have.
  var absence: Fault {
    Fault(.system(EIO), "the server \(address.text) cannot be read: \(OfflineWire.reason)")
  }

  /// Returns the fault for an unsuccessful response. This is the only such conversion.
  func fault(_ answer: RepeatedRequest.Answer) -> Fault {
    if let fault = interface.fault(answer, of: address.text) { return fault }
    let said = ServerAnswer.sentence(answer.body)
    switch answer.head.status {
    case 404: return Fault(.system(ENOENT))
    case 416: return Fault(.system(ESTALE))
    case 300..<400:
      return Fault(
        .system(EIO),
        "the server \(address.text) redirects (mount instead: \((answer.head.location ?? "unknown").prefix(256)))")
    default:
      return Fault(
        .system(EIO), "the server \(address.text) answered with \(answer.head.status): \(said ?? "no reason given")")
    }
  }
}

/// A receiver of a response that shows that the server is alive.
private final class SignOfLife: Receiver {
  func begin(_ head: AnswerHead) -> Bool { false }
  func take(_ bytes: UnsafeRawBufferPointer) -> Taking { .ended }
  func end(_ outcome: Outcome) {}
}
