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
  private let helpers = ThreadPool(atMost: 2)
  private let tokenFile: Passwords?
  private let held: UnfairLock<String?>
  private let roots = UnfairLock(Roots())
  /// The listings of a bucket. Nil for other servers.
  private let walk: FolderWalk?

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

  /// The maximum size of a listing, in bytes.
  private static let largestListing = 64 << 20
  private static let largestItem = 64 << 10
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

  /// Requests a directory's entries, unless they are those of `known`.
  func listing(of path: [UInt8], known: Snapshot?) -> SharedFetch<Snapshot> {
    let fetch = SharedFetch<Snapshot>(lifetime: interface.lifetime)
    let now = HTTPClient.now
    if let kept, kept.isOffline {
      help { [self] in
        let items = kept.listing(of: path)
        fetch.finish(items.map { .success(keep($0, of: path, tag: nil, took: 0)) } ?? .failure(absence))
      }
    } else if let walk, let page = walk.page(for: path) {
      self.walk(walk, to: path, page, since: now, fetch)
    } else {
      page(of: path, known: known, Pages(), after: nil, since: now, fetch)
    }
    return fetch
  }

  /// Requests a page of files at any depth, which has the entries of a directory and of those after it.
  private func walk(
    _ walk: FolderWalk, to path: [UInt8], _ page: FolderWalk.Page, since began: UInt64, _ fetch: SharedFetch<Snapshot>
  ) {
    let call = RepeatedRequest(self, walk.bucket.walk(page), limit: Self.largestListing) { [self] result in
      helpers.submit { [self] in
        do throws(Fault) {
          let answer = try result.get()
          guard answer.isSuccess else { throw fault(answer) }
          let page = try walk.bucket.walk(answer)
          let step = try walk.add(page.files, next: page.next, for: path)
          var listing: Snapshot?
          for folder in step.folders {
            let snapshot = keep(folder.items, of: folder.path, tag: nil, took: HTTPClient.now - began)
            if folder.path == path { listing = snapshot }
          }
          if let listing { return fetch.finish(.success(listing)) }
          if let next = step.next { return self.walk(walk, to: path, next, since: began, fetch) }
        } catch {
          // Some servers do not sort keys.
          walk.stop(forGood: error.kind == .damaged)
        }
        self.page(of: path, known: nil, Pages(), after: nil, since: began, fetch)
      }
    }
    fetch.whenAbandoned {
      call.cancel()
      walk.stop()
    }
    call.start()
  }

  /// Records the entries of a directory. Returns their listing.
  @discardableResult
  func keep(_ items: [ServerItem], of path: [UInt8], tag: String?, took: UInt64) -> Snapshot {
    let snapshot = Snapshot(
      items, tag: tag, took: took, lifetime: interface.lifetime, longest: interface.longestValidity)
    listings.insert(snapshot, for: path, cost: snapshot.cost)
    kept?.keep(items, of: path)
    return snapshot
  }

  /// The entries of a listing's pages.
  private final class Pages: Sendable {
    private struct State {
      var items: [ServerItem] = []
      /// The first name and the next mark of the last page.
      var first: FileName?
      var next: String?
    }

    private let state = UnfairLock(State())

    /// Adds a page. Returns the number of entries.
    ///
    /// - Throws: damage if the page begins as the one before or has the same mark. A server that repeats a page would
    ///   never end.
    func add(_ page: (items: [ServerItem], next: String?)) throws(Fault) -> Int {
      let first = page.items.first?.name
      let count = state.withLock { state -> Int? in
        if first != nil && first == state.first || page.next != nil && page.next == state.next { return nil }
        (state.first, state.next) = (first, page.next)
        state.items += page.items
        return state.items.count
      }
      guard let count else { throw Fault(.damaged, "the server repeats a page of its listing") }
      return count
    }

    func taken() -> [ServerItem] {
      state.withLock { state in
        defer { state.items = [] }
        return state.items
      }
    }
  }

  /// Requests a page of a directory's entries, after `pages`.
  private func page(
    of path: [UInt8], known: Snapshot?, _ pages: Pages, after mark: String?, since began: UInt64,
    _ fetch: SharedFetch<Snapshot>
  ) {
    var exchange = interface.listing(of: path, after: mark)
    // Without a condition, the response may come from the cache of `ffmount serve`.
    if mark == nil, let tag = known?.tag ?? (interface is ServerInterface ? "\"none\"" : nil) {
      exchange.headers.append("If-None-Match: \(tag)")
    }
    let call = RepeatedRequest(
      self, exchange, limit: Self.largestListing, takesStart: interface.file != nil
    ) { [self] result in
      let finish: @Sendable () -> Void = { [self] in
        do throws(Fault) {
          let answer = try result.get()
          if answer.head.status == 304, mark == nil, let known {
            return fetch.finish(.success(known.confirmed(after: HTTPClient.now - began)))
          }
          if answer.head.status == 400, interface is ServerInterface { throw Fault(.system(ENOTDIR)) }
          guard answer.isSuccess else { throw fault(answer) }
          let page = try interface.listing(answer, of: path)
          guard try pages.add(page) <= ServerItem.mostInFolder else {
            throw ServerItem.tooMany
          }
          if let next = page.next {
            return self.page(of: path, known: nil, pages, after: next, since: began, fetch)
          }
          let tag = mark == nil ? answer.head.tag : nil
          let snapshot = keep(pages.taken(), of: path, tag: tag, took: HTTPClient.now - began)
          fetch.finish(.success(snapshot))
        } catch { fetch.finish(.failure(error)) }
      }
      // A large response is not parsed on the thread of all requests.
      if let answer = try? result.get(), answer.body.count > Self.largestItem {
        helpers.submit(finish)
      } else {
        finish()
      }
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
  }

  // MARK: Failures

  /// The fault of a read of a file of which the server does not send parts.
  var lacksParts: Fault {
    Fault(
      .system(EIO), "the server \(address.text) does not send parts of files (to copy the whole file: -o download)")
  }

  /// The fault of a request for data that an offline mount does not have.
  private var absence: Fault {
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
