import Assembly
import Bytes
import FileTrees
import Files
import Glibc
import Locks
import NIOCore
import NIOHTTP1
import Synchronization
import Threads
import Tree

/// The served tree, its access control, and everything that connections share.
final class Site: Sendable {
  /// The manner in which a request is answered.
  enum Answer: Sendable {
    case now(Response)
    /// Answered by a thread that may block. Called again after a delay.
    case later(@Sendable () throws(Fault) -> Response)
    /// Answered like `later`, for work that may take seconds. Few such jobs run at a time, so that they do not delay
    /// others.
    case long(@Sendable () throws(Fault) -> Response)
  }

  let tree: Tree
  /// The tree's library interface.
  let library: FileTree
  let source: ShownSource
  let access: Access
  let bench: BlockingExecutor
  let longBench: BlockingExecutor
  let metrics = Metrics()
  let connections: ConnectionLimit
  let recent = RecentAnswers()
  let locks = LockTable()
  let activeUploads = ActiveUploads()
  /// Whether removed files can be restored.
  let hasTrash: Bool
  /// Whether a directory's `index.html` is shown instead of a list.
  let showsIndex: Bool
  /// Held while a change is made that depends on the current state of a file.
  let conditionalChanges = CancellableLock()
  private let root: RealRoot
  let largeAnswers = LargeAnswers(256 << 20)
  private let folders = RecentFolders()
  let health = Health()
  let proxies: Proxies
  /// The path of the server behind a proxy. Empty for the root.
  let prefix: String
  private let changeLog: ChangeLog?
  /// The file of users. Nil if there is none.
  let users: AccountStore?
  let streams: EventStreams
  private let clock = UnfairLock((second: Int64.min, text: ""))
  private let ending = Atomic<Bool>(false)
  private let note: @Sendable (String) -> Void

  init(
    _ tree: Tree, _ root: RealRoot, of source: ShownSource, _ access: Access, _ users: AccountStore?,
    _ streams: EventStreams, behind proxies: Proxies,
    at prefix: String,
    _ bench: BlockingExecutor,
    long longBench: BlockingExecutor, connections: Int, hasTrash: Bool, showsIndex: Bool,
    changeLog: ChangeLog?, log: @escaping @Sendable (String) -> Void
  ) {
    self.tree = tree
    self.hasTrash = hasTrash
    self.showsIndex = showsIndex
    self.root = root
    library = source.library(tree)
    self.source = source
    self.access = access
    self.users = users
    self.streams = streams
    self.proxies = proxies
    self.prefix = prefix
    self.changeLog = changeLog
    self.bench = bench
    self.longBench = longBench
    self.connections = ConnectionLimit(connections)
    note = log
  }

  /// Answers a request, or returns the work to do. Does not block.
  func answer(_ request: HTTPRequest) -> Answer {
    if request.method == .OPTIONS, request.headers.contains(name: "access-control-request-method"),
      access.origin(of: request) != nil
    {
      return .now(Self.permission)
    }
    if request.path == "/healthz", request.method == .GET || request.method == .HEAD { return health.answer(self) }
    // Relative addresses of the page need the slash.
    if request.path.isEmpty, !request.base.isEmpty { return .now(.redirection(to: "\(request.base)/")) }
    return answer(request, access.check(request))
  }

  /// The response to a browser that asks whether a script of another page may send a request (WHATWG Fetch).
  private static let permission = Response(
    .noContent,
    headers: [
      (
        "Access-Control-Allow-Methods",
        WebDAV.reading + ", PUT, DELETE, MKCOL, COPY, MOVE, PROPPATCH, LOCK, UNLOCK, POST, PATCH"
      ),
      (
        "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Depth, Destination, If, If-Match, If-Modified-Since, If-None-Match, If-Range, "
          + "If-Unmodified-Since, Lock-Token, Overwrite, Range, Timeout, Tus-Resumable, Upload-Length, Upload-Offset"
      ), ("Access-Control-Max-Age", "600"),
    ])

  private func answer(_ request: HTTPRequest, _ verdict: Access.Verdict) -> Answer {
    let account: Account
    let cookie: String?
    switch verdict {
    case .refused(let response): return .now(response)
    case .admitted(let admitted, let given): (account, cookie) = (admitted, given)
    case .undecided(let decide):
      return .long { [self] () throws(Fault) in
        switch self.answer(request, try decide()) {
        case .now(let response): response
        case .later(let work), .long(let work): try work()
        }
      }
    }
    if request.path == Page.login || request.path == Page.logout {
      let isEnd = request.path == Page.logout
      // A link or a picture in a file of the tree must not end the session. `Access` refuses a POST of other sites.
      if isEnd, request.method != .POST { return .now(.problem(.methodNotAllowed, headers: [("Allow", "POST")])) }
      let response = Response.redirection(to: "\(request.base)/", .seeOther)
      guard let cookie = isEnd ? Access.cookie(nil, request) : cookie else { return .now(response) }
      return .now(response.with("Set-Cookie", cookie))
    }
    let answer = logged(route(request, Visitor(self, account, request)), request, account)
    guard let cookie else { return answer }
    if request.path == "/" { return .now(Page.forgettingToken(request).with("Set-Cookie", cookie)) }
    switch answer {
    case .now(let response): return .now(response.with("Set-Cookie", cookie))
    case .later(let work):
      return .later { () throws(Fault) in try work().with("Set-Cookie", cookie) }
    case .long(let work):
      return .long { () throws(Fault) in try work().with("Set-Cookie", cookie) }
    }
  }

  /// Returns the answer, whose outcome is noted in the log of changes.
  private func logged(_ answer: Answer, _ request: HTTPRequest, _ account: Account) -> Answer {
    guard changeLog != nil, request.isChange else { return answer }
    let logged: @Sendable (() throws(Fault) -> Response) throws(Fault) -> Response = { [self] work throws(Fault) in
      do throws(Fault) {
        let response = try work()
        note(request, account, "\(response.status.code)")
        return response
      } catch {
        if !error.isDelay { note(request, account, "\(error.httpStatus.code)") }
        throw error
      }
    }
    switch answer {
    case .now(let response): return .later { () throws(Fault) in try logged { response } }
    case .later(let work): return .later { () throws(Fault) in try logged(work) }
    case .long(let work): return .long { () throws(Fault) in try logged(work) }
    }
  }

  /// Notes the outcome of a request in the log of changes, if there is one. Blocks.
  private func note(_ request: HTTPRequest, _ account: Account, _ outcome: String) {
    do throws(Fault) { try changeLog?.note(request, account, outcome) } catch {
      log("cannot write the log of changes: \(error.sentence)")
    }
  }

  /// Answers an authorized request. Recent responses are reused.
  private func route(_ request: HTTPRequest, _ visitor: Visitor) -> Answer {
    guard let target = RecentAnswers.target(of: request, by: visitor) else {
      switch make(request, visitor) {
      case .now(let response): return .now(response.compressed(for: request))
      case .later(let work): return .later { () throws(Fault) in try work().compressed(for: request) }
      case .long(let work): return .long { () throws(Fault) in try work().compressed(for: request) }
      }
    }
    if let known = recent[target] { return .now(known) }
    let answer = make(request, visitor)
    guard case .later(let work) = answer else { return answer }
    let state = recent.state
    return .later { [self] () throws(Fault) in
      let response = try work().compressed(for: request).prepared()
      recent.keep(response, for: target, of: state)
      return response
    }
  }

  private func make(_ request: HTTPRequest, _ visitor: Visitor) -> Answer {
    if Uploads.isAsked(by: request) { return Uploads(visitor).answer(request) }
    if Shares.isAsked(by: request) { return Shares(visitor).answer(request) }
    if Trash.isAsked(by: request) { return Trash(visitor).answer(request) }
    if WebDAV.isAsked(by: request) { return WebDAV(visitor).answer(request) }
    guard request.method == .GET || request.method == .HEAD else {
      return .now(.problem(.methodNotAllowed, headers: [("Allow", "GET, HEAD")]))
    }
    if request.path.hasPrefix("/api/") { return API(visitor).answer(request) }
    if request.path == "/metrics", visitor.seesEverything { return .now(metrics.response(self)) }
    return .now(Page.answer(request))
  }

  /// Returns whether requests with this method may store their body.
  static func storesBody(_ method: HTTPMethod) -> Bool { method == .PUT || method == .PATCH }

  /// Begins to receive the body of a request that stores it. Returns `nil` for other requests, whose bodies are short.
  /// Does not block.
  func reception(of request: HTTPRequest) -> Reception.Start? {
    guard request.method == .PUT ? WebDAV.isAsked(by: request) : Uploads.isAsked(by: request) else { return nil }
    let verdict = access.check(request)
    return { [self] () throws(Fault) in
      var verdict = verdict
      if case .undecided(let decide) = verdict { verdict = try decide() }
      switch verdict {
      case .refused(let response): return .refused(response)
      case .admitted(let account, _):
        let visitor = Visitor(self, account, request)
        if let refusal = visitor.refusalToWrite { return .refused(refusal) }
        let reception =
          try request.method == .PUT ? WebDAV(visitor).reception(of: request) : Uploads(visitor).reception(of: request)
        guard changeLog != nil else { return reception }
        switch reception {
        case .refused(let response):
          note(request, account, "\(response.status.code)")
          return reception
        case .sink(let sink): return .sink(LoggedSink(sink) { [self] in note(request, account, $0) })
        }
      case .undecided: throw .interrupted
      }
    }
  }

  /// Returns the file or directory at a path. Blocks.
  ///
  /// - Parameter followsLast: whether a symbolic link in the last component is followed.
  func place(_ path: [FileName], followsLast: Bool = true) throws(Fault) -> ResolvedPath {
    guard let name = path.last else { return try place(path[...], from: nil) }
    let folder = path.dropLast()
    let state = folders.state
    if let known = folders[folder] {
      do throws(Fault) { return try place([name], from: known, followsLast) } catch {
        // The directory itself may have been removed or replaced.
        guard [ENOENT, ENOTDIR, ESTALE].contains(where: { error.kind == .system($0) }) else { throw error }
      }
    }
    let found = try place(folder, from: nil)
    if found.attributes.kind == .folder { folders.keep(found, at: folder, of: state) }
    return try place([name], from: found, followsLast)
  }

  private func place(
    _ names: ArraySlice<FileName>, from folder: ResolvedPath?, _ followsLast: Bool = true
  ) throws(Fault) -> ResolvedPath {
    try ResolvedPath.find(
      Array(names), in: tree, from: folder, source: source.path, followsLast: followsLast, .blocking)
  }

  /// Returns the reason why clients cannot change an item of this name. Returns `nil` if they can.
  ///
  /// - Parameter isNew: whether the item would be created or replaced.
  func reservation(of names: [FileName], isNew: Bool) -> String? {
    if names.contains(where: { TemporaryName.isOne($0.bytes) }) {
      return "the name is reserved for files that are not complete"
    }
    return isNew && hasTrash && names == [Trash.folder]
      ? "the name is reserved for removed files (the option --no-trash of ffmount serve frees it)" : nil
  }

  /// Drops all cached directories and responses, after a change by this server.
  func forgetAnswers() {
    folders.forget()
    recent.forget()
  }

  /// Returns the space of the source's file system, in bytes. Blocks.
  func space() throws(Fault) -> (available: Int64, used: Int64) {
    let system = try root.statistics()
    let block = UInt64(system.f_frsize)
    func bytes(_ blocks: UInt64) -> Int64 {
      let (count, isBeyond) = blocks.multipliedReportingOverflow(by: block)
      return isBeyond ? .max : Int64(clamping: count)
    }
    let all = UInt64(system.f_blocks)
    return (bytes(UInt64(system.f_bavail)), bytes(all - min(all, UInt64(system.f_bfree))))
  }

  /// Drops expired cached directories and responses. Does not block.
  func tidy() {
    if folders.isEmpty, recent.isEmpty, users == nil { return }
    bench.submit { [self] in
      users?.visits.save()
      folders.tidy()
      recent.tidy()
    }
  }

  /// Returns the path on the server's machine, for users to copy.
  func absolute(_ path: TreePath) -> String {
    path.names.isEmpty ? source.path : (source.path == "/" ? "" : source.path) + path.text
  }

  /// The name of the source, for users.
  var name: String { source.path == "/" ? "/" : String(source.path.split(separator: "/").last ?? "/") }

  /// The value of the Date header.
  var date: String {
    let now = HTTPDate.now
    return clock.withLock { clock in
      if clock.second != now.seconds { clock = (now.seconds, HTTPDate.text(now)) }
      return clock.text
    }
  }

  var isEnding: Bool { ending.load(ordering: .relaxed) }

  func end() {
    ending.store(true, ordering: .relaxed)
    streams.end()
  }

  func log(_ line: String) { note(line) }
}
