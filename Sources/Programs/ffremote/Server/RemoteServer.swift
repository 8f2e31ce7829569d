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
  let availability: Availability
  let wire: HTTPClient
  let links: LinkPolicy
  /// The maximum time that a request waits for an unreachable or busy server, in seconds.
  let waitSeconds: Int
  /// The listings by path. Their cost is the memory of the entries.
  let listings: LRUCache<[UInt8], Snapshot>
  /// The file records by path.
  let files: LRUCache<[UInt8], FileRecord>
  let streams = StreamLimit()
  /// The threads that parse large responses and read local files.
  private let helpers = ThreadPool(atMost: 2)
  private let tokenFile: Passwords?
  private let held: UnfairLock<String?>
  private let roots = UnfairLock(Roots())

  private struct Roots: Sendable {
    var item: ServerItem?
    var fetch: SharedFetch<ServerItem?>?
  }

  /// The time for which a response is valid, in nanoseconds.
  static let lifetime: UInt64 = 500_000_000

  /// The maximum size of a listing, in bytes.
  private static let largestListing = 64 << 20
  private static let largestItem = 64 << 10
  /// The time limit for the root's attributes, in milliseconds.
  private static let longestLook = 5000
  /// The capacity of the cache of file records, in bytes.
  private static let filesCapacity = 32 << 20

  init(_ address: ServerAddress, _ options: MountOptions) throws {
    self.address = address
    links = options.showsAllLinks ? .all : .inside
    waitSeconds = options.server.wait
    availability = Availability(address.text, wait: options.server.wait)
    tokenFile = options.server.token
    held = UnfairLock(try Self.token(of: options.server.token))
    listings = LRUCache(capacity: Int(min(options.memory, 1 << 30)) / 2)
    files = LRUCache(capacity: Self.filesCapacity)
    wire = try HTTPClient(
      WireSettings(base: address.text, authorities: options.server.authorities), silence: options.server.wait
    ) { wire in
      // The probe needs no work: any server answers it at once.
      wire.start(HTTPExchange("/api/", limit: 4000), token: nil, SignOfLife())
    }
  }

  /// Ends all requests. Waiters get an error.
  func stop() {
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

  // MARK: Calls

  static func target(_ call: String, _ path: [UInt8]) -> String {
    "/api/\(call)?path=" + Percent.encoded(path, keepingSlash: true)
  }

  /// Requests one item, whose name is `name`. The result is nil if it does not exist.
  func item(
    at path: [UInt8], named name: FileName, isRepeated: Bool = true, limit: Int? = nil
  ) -> SharedFetch<ServerItem?> {
    let fetch = SharedFetch<ServerItem?>()
    let call = RepeatedRequest(
      self, HTTPExchange(Self.target("stat", path), limit: limit), limit: Self.largestItem, isRepeated: isRepeated
    ) { [self] result in
      fetch.finish(
        Result { () throws(Fault) in
          let answer = try result.get()
          if answer.head.status == 404 { return nil }
          guard answer.head.status == 200 else { throw fault(answer) }
          return try ServerAnswer.item(answer.body, named: name)
        })
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
    return fetch
  }

  /// Returns the attributes of the root, initially `known`. Waits only briefly, and not for an unreachable server, so
  /// that its mount can still be accessed and unmounted.
  func root(knowing known: ServerItem, _ blocking: BlockingMode) throws(Fault) -> ServerItem {
    let isAway = availability.isAway
    let (item, fetch): (ServerItem?, SharedFetch<ServerItem?>?) = roots.withLock { roots in
      if let fetch = roots.fetch, let end = fetch.end {
        if let item = try? fetch.value(.immediate) { roots.item = item }
        if HTTPClient.now < end { return (roots.item ?? known, nil) }
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
    throw Fault(.pending(fetch.pending))
  }

  /// Requests a directory's entries, unless they are those of `known`.
  func listing(of path: [UInt8], known: Snapshot?) -> SharedFetch<Snapshot> {
    let fetch = SharedFetch<Snapshot>()
    let began = HTTPClient.now
    // Without a condition, the response may come from the server's cache.
    let condition = "If-None-Match: \(known?.tag ?? "\"none\"")"
    let call = RepeatedRequest(
      self, HTTPExchange(Self.target("list", path), headers: [condition]), limit: Self.largestListing
    ) {
      [self] result in
      let finish: @Sendable () -> Void = { [self] in
        fetch.finish(
          Result { () throws(Fault) in
            let answer = try result.get()
            if answer.head.status == 304, let known { return known.confirmed(after: HTTPClient.now - began) }
            if answer.head.status == 400 { throw Fault(.system(ENOTDIR)) }
            guard answer.head.status == 200 else { throw fault(answer) }
            let items = try ServerAnswer.listing(answer.body)
            let snapshot = Snapshot(items, tag: answer.head.tag, took: HTTPClient.now - began)
            listings.insert(snapshot, for: path, cost: snapshot.cost)
            return snapshot
          })
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
    return fetch
  }

  // MARK: Failures

  /// Returns the fault for an unsuccessful response. This is the only such conversion.
  func fault(_ answer: RepeatedRequest.Answer) -> Fault {
    let said = ServerAnswer.sentence(answer.body)
    switch answer.head.status {
    case 401:
      let advice = "give it with -o token_file=FILE, and remount"
      return Fault(.system(EACCES), "the server \(address.text) requires another token (\(advice))")
    case 403: return Fault(.system(EACCES), said ?? "")
    case 404: return Fault(.system(ENOENT))
    case 416: return Fault(.system(ESTALE))
    case 422: return Fault(.damaged, said ?? "the server cannot read it")
    case 421:
      return Fault(
        .system(EIO), "the server refuses the name in \(address.text) (start it with --name, or use its address)"
      )
    case 507: return Fault(.system(ENOSPC), "the server has no room: \(said ?? "its disk is full")")
    case 300..<400:
      return Fault(
        .system(EIO), "the server \(address.text) redirects (mount instead: \(answer.head.location ?? "unknown"))")
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
