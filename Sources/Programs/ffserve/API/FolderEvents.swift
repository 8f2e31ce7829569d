import Assembly
import Bytes
import FileTrees
import Files
import Locks
import NIOCore
import NIOHTTP1
import Text
import Tree

/// The changes in some directories, as server-sent events (WHATWG HTML, section 9.2): `/api/events?path=`. An event has
/// the path of the directory, not those of the changed items.
final class FolderEvents: BodySource {
  private struct State {
    /// The directories that have changed since the last piece, by their indexes.
    var changed: Set<Int> = []
    /// The directories whose changes are reported, until that has been said.
    var watched: [Int] = []
    /// Whether a piece is sent even if nothing has changed.
    var isDue = true
    var isOver = false
    /// The time before which no more changes are sent, in nanoseconds.
    var quietUntil: UInt64 = 0
    var isScheduled = false
    /// The operation that a request for the next piece waits for.
    var waiter: SharedOperation?
    var watches: [any AnyObject & Sendable] = []
  }

  fileprivate let paths: [TreePath]
  private let streams: EventStreams
  private let state = UnfairLock(State())
  /// The state of the accounts when the stream began.
  private let accounts: Int

  /// The minimum time between two pieces with changes, in nanoseconds.
  private static let interval: UInt64 = 300_000_000
  /// The maximum number of directories of a stream.
  static let most = 256

  let length: Int64? = nil

  private init(_ paths: [TreePath], _ site: Site) {
    self.paths = paths
    streams = site.streams
    accounts = site.access.changes
  }

  deinit { streams.remove(self) }

  /// Handles `/api/events`. Blocks.
  static func response(_ visitor: Visitor, _ request: HTTPRequest) throws(Fault) -> Response {
    guard let values = request.query.all("path"), !values.isEmpty, values.count <= most else {
      return .problem(.badRequest, "expected 1 to \(most) parameters path")
    }
    var paths: [TreePath] = []
    for bytes in values {
      guard let path = TreePath(bytes) else {
        return .problem(.badRequest, "the path contains . or .. or a NUL, or is too deep")
      }
      paths.append(path)
    }
    let headers: [(name: String, value: String)] = [
      ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
    ]
    if request.method == .HEAD { return Response(.ok, headers: headers, .unknown) }
    let site = visitor.site
    let events = FolderEvents(paths, site)
    guard site.streams.add(events) else {
      return .problem(.serviceUnavailable, "too many clients wait for changes", headers: [("Retry-After", "60")])
    }
    if let end = visitor.account.until { events.end(at: end) }
    var fault: Fault?
    for (index, path) in paths.enumerated() {
      do throws(Fault) { try events.watch(path, index, visitor) } catch {
        if error.isDelay { throw error }
        fault = fault ?? error
      }
    }
    // Directories that are gone do not matter beside others.
    if let fault, events.state.withLock({ $0.watches.isEmpty }) { throw fault }
    return Response(.ok, headers: headers, .stream(events))
  }

  /// Watches a directory. The views in a directory of a view change with the real one that contains their source.
  private func watch(_ path: TreePath, _ index: Int, _ visitor: Visitor) throws(Fault) {
    var place = try visitor.whole(path)
    guard place.attributes.kind == .folder else { throw .notFolder }
    while try place.provenance(.blocking) != nil {
      place = try visitor.site.place(Array(place.names.dropLast()))
    }
    // An account with only a file must not learn when others change.
    guard visitor.account.rights(at: place.names).contains(.read) else { return }
    let site = visitor.site
    let watch = try site.library.watch(place) { [weak self, weak site] in
      // Cached responses may be outdated.
      site?.forgetAnswers()
      self?.note(index)
    }
    // Other machines' changes are not reported.
    let isDistant = try site.tree.withFolder(place.node) { (raw) throws(Fault) in
      try FileStatus(of: raw).isDistant(raw)
    }
    state.withLock { state in
      state.watches.append(watch)
      if !isDistant { state.watched.append(index) }
    }
    // Later responses must not be older than the watch.
    site.forgetAnswers()
  }

  private func note(_ index: Int) {
    let now = monotonicNanoseconds()
    let (waiter, wait) = state.withLock { state -> (SharedOperation?, UInt64) in
      state.changed.insert(index)
      if now >= state.quietUntil { return (state.waiter.take(), 0) }
      defer { state.isScheduled = true }
      return (nil, state.isScheduled ? 0 : state.quietUntil - now)
    }
    waiter?.finish()
    if wait > 0 { streams.after(nanoseconds: wait) { [weak self] in self?.wake { $0.isScheduled = false } } }
  }

  private func wake(_ body: (inout State) -> Void) {
    let waiter = state.withLock { state in
      body(&state)
      return state.waiter.take()
    }
    waiter?.finish()
  }

  /// Sends a comment, so that a lost connection is detected. Ends the stream if the accounts have changed, so that the
  /// client is authorized again.
  func beat(_ site: Site) {
    wake { state in
      if site.access.changes != accounts { state.isOver = true } else { state.isDue = true }
    }
  }

  func end() { wake { $0.isOver = true } }

  /// Ends the stream at a time in seconds since 1970.
  private func end(at time: Int64) {
    let seconds = UInt64(clamping: time - HTTPDate.now.seconds)
    let (nanoseconds, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if !isBeyond { streams.after(nanoseconds: nanoseconds) { [weak self] in self?.end() } }
  }

  func next() throws(Fault) -> ByteBuffer? {
    let now = monotonicNanoseconds()
    var waiter: SharedOperation?
    let piece = state.withLock { state -> String? in
      if state.isOver { return nil }
      if !state.watched.isEmpty {
        defer { state.watched = [] }
        return state.watched.map { event("watching", paths[$0]) }.joined()
      }
      if !state.changed.isEmpty, now >= state.quietUntil {
        defer { (state.changed, state.quietUntil, state.isDue) = ([], now + Self.interval, false) }
        return state.changed.sorted().map { event("change", paths[$0]) }.joined()
      }
      if state.isDue {
        state.isDue = false
        // The time after which browsers connect again, in milliseconds.
        return ": \nretry: 500\n\n"
      }
      let operation = state.waiter ?? SharedOperation {}
      state.waiter = operation
      waiter = operation
      return nil
    }
    if let waiter { throw Fault(.pending(waiter)) }
    return piece.map { ByteBuffer(string: $0) }
  }

  private func event(_ name: String, _ path: TreePath) -> String {
    var data: JSON = ["path": .string(path.text)]
    data.add("encodedPath", path.bytes.span.isUTF8 ? nil : path.encoded)
    return "event: \(name)\ndata: \(String(decoding: data.bytes, as: UTF8.self))\n\n"
  }
}

/// The open streams of changes.
final class EventStreams: Sendable {
  private struct Reference: Sendable {
    weak var stream: FolderEvents?
  }

  private struct State {
    var streams: [ObjectIdentifier: Reference] = [:]
    /// The number of directories of the streams.
    var folders = 0
  }

  private let open = UnfairLock(State())
  private let loop: any EventLoop

  private static let most = 4096
  /// The maximum number of directories of all streams.
  private static let mostFolders = 65_536
  /// The time between two comments.
  private static let period = TimeAmount.seconds(15)

  init(on loop: any EventLoop) { self.loop = loop }

  func begin(_ site: Site) {
    loop.scheduleRepeatedTask(initialDelay: Self.period, delay: Self.period) { [weak self, weak site] _ in
      guard let self, let site else { return }
      for stream in streams { stream.beat(site) }
    }
  }

  private var streams: [FolderEvents] { open.withLock { $0.streams.values.compactMap(\.stream) } }

  /// Returns `false` if there are too many.
  func add(_ stream: FolderEvents) -> Bool {
    open.withLock { open in
      guard open.streams.count < Self.most, open.folders + stream.paths.count <= Self.mostFolders else { return false }
      open.streams[ObjectIdentifier(stream)] = Reference(stream: stream)
      open.folders += stream.paths.count
      return true
    }
  }

  func remove(_ stream: FolderEvents) {
    open.withLock { open in
      guard open.streams.removeValue(forKey: ObjectIdentifier(stream)) != nil else { return }
      open.folders -= stream.paths.count
    }
  }

  func end() { for stream in streams { stream.end() } }

  func after(nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
    loop.scheduleTask(in: .nanoseconds(Int64(clamping: nanoseconds)), body)
  }
}
