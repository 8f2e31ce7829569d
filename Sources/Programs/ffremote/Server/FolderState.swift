import Bytes
import Glibc
import Locks
import ServerAnswers
import Threads

/// The known entries of a directory, and the requests for them.
final class FolderState: Sendable {
  let path: [UInt8]
  /// The depth below the root. 0 for the root.
  let depth: Int
  let server: RemoteServer
  /// Whether the directory is a view, or in one.
  let isView: Bool
  /// The inode number of the directory.
  let inode: UInt64

  private struct State {
    weak var snapshot: Snapshot?
    var listing: SharedFetch<Snapshot>?
    var items: [FileName: Known] = [:]
    var asked: [FileName: SharedFetch<ServerItem?>] = [:]
    /// The total duration of requests for single entries since the last listing, in nanoseconds.
    var waited: UInt64 = 0
    /// The position in the listing of the entry that was requested last by itself.
    var place = -1
    /// The number of such requests in the order of the listing.
    var run = 0

    /// Forgets requests whose results are no longer valid, if there are many.
    mutating func makeRoom() {
      if asked.count >= FolderState.mostItems { asked = asked.filter { $0.value.isUsable } }
    }
  }

  private struct Known: Sendable {
    var result: Result<ServerItem?, Fault>
    var until: UInt64
    /// The time of the request, in nanoseconds. 0 for an item of a view, whose size changes when it has been made.
    var begun: UInt64
    /// The time of the request, in nanoseconds.
    var asked: UInt64
  }

  private let state = UnfairLock(State())

  private static let mostItems = 512

  /// The number of entries that are requested before a reader of the listing gets to them.
  private static let ahead = 8

  /// - Parameter path: `/` for the root, otherwise without a trailing slash.
  init(_ path: [UInt8], _ server: RemoteServer, isView: Bool, inode: UInt64) {
    self.path = path
    self.isView = isView
    self.inode = inode
    depth = path.split(separator: UInt8(ascii: "/")).count
    self.server = server
  }

  func path(of name: FileName) -> [UInt8] { (path.count == 1 ? [] : path) + [UInt8(ascii: "/")] + name.bytes }

  private func isValid(_ snapshot: Snapshot) -> Bool { isFresh(snapshot) && isOfPresent(asked: snapshot.asked) }

  private func isFresh(_ snapshot: Snapshot) -> Bool { snapshot.isFresh || snapshot.isCurrent(path, server.live) }

  /// Returns whether a request began after the last change by this mount that concerns the names of entries.
  private func isOfPresent(asked: UInt64) -> Bool {
    let last = server.changes?.last(in: path, isView: isView) ?? 0
    return last == 0 || asked > last
  }

  /// Returns whether a request began after the last change by this mount that concerns an entry.
  private func isOfPresent(asked: UInt64, _ name: FileName, isView: Bool) -> Bool {
    let last = server.changes?.last(of: path(of: name), isView: isView) ?? 0
    return last == 0 || asked > last
  }

  private func isView(_ item: ServerItem?) -> Bool { isView || item?.view != nil }

  /// Returns the current entries.
  func snapshot(_ blocking: BlockingMode) throws(Fault) -> Snapshot {
    let known = server.listings[path]
    let (fresh, fetch): (Snapshot?, SharedFetch<Snapshot>?) = state.withLock { state in
      let known = known ?? state.snapshot
      if let known, isValid(known) { return (known, nil) }
      if let listing = state.listing, listing.isUsable, isOfPresent(asked: listing.begun) {
        return (nil, listing)
      }
      state.waited = 0
      let fetch = server.listing(of: path, known: known)
      state.listing = fetch
      return (nil, fetch)
    }
    if let fresh { return fresh }
    guard let fetch else { throw .later }
    server.live?.want(path, server)
    let snapshot = try fetch.value(blocking)
    state.withLock { state in
      state.snapshot = snapshot
      // The request would keep the listing in memory.
      if state.listing === fetch { state.listing = nil }
    }
    return snapshot
  }

  /// Returns the current entry of this name. Returns `nil` if there is none.
  func item(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> ServerItem? {
    if server.interface.listsAll {
      let snapshot = try snapshot(blocking)
      guard let place = snapshot.place(of: name) else { return nil }
      let item = snapshot.items[place]
      if server.interface.listsAttributes || item.kind != .file { return item }
      requestFollowing(place, of: snapshot)
      return try single(name, blocking)
    }
    let snapshot = lastSnapshot
    if let item = listed(name, snapshot) { return item }
    // Once single requests have taken as long as a listing, more of them are likely to follow.
    if let snapshot, snapshot[name] != nil, state.withLock({ $0.waited > snapshot.took }),
      let item = try self.snapshot(blocking)[name]
    {
      return item
    }
    return try single(name, blocking)
  }

  /// The last listing, which may be outdated.
  private var lastSnapshot: Snapshot? { server.listings[path] ?? state.withLock { $0.snapshot } }

  /// Returns an entry as this mount has just left it, or that of a listing if it is current.
  private func listed(_ name: FileName, _ snapshot: Snapshot?) -> ServerItem? {
    if let made = made(name) { return made }
    guard let snapshot, let item = snapshot[name], isFresh(snapshot),
      isOfPresent(asked: snapshot.asked, name, isView: isView(item))
    else { return nil }
    return item
  }

  /// Returns an entry as this mount has just left it.
  private func made(_ name: FileName) -> ServerItem? {
    var item = server.changes?.made(path(of: name))
    item?.name = name
    return item
  }

  /// Returns the current entry of this name if no request is needed for that.
  func known(_ name: FileName) -> ServerItem? {
    if let item = listed(name, lastSnapshot) { return item }
    let known = state.withLock { $0.items[name] }
    guard let known, isValid(known, name) else { return nil }
    return try? known.result.get()
  }

  /// Requests the files after one of a listing, if the last ones were requested in its order, as `ls -l` does: else each
  /// would wait for the one before it.
  private func requestFollowing(_ place: Int, of snapshot: Snapshot) {
    let now = HTTPClient.now
    state.withLock { state in
      guard place != state.place else { return }
      state.run = place > state.place && place - state.place <= Self.ahead ? state.run + 1 : 0
      state.place = place
      guard state.run > 1 else { return }
      state.makeRoom()
      for item in snapshot.items[(place + 1)...].prefix(Self.ahead) where item.kind == .file {
        let isKnown = state.items[item.name].map { $0.until > now } ?? false
        if isKnown || state.asked[item.name]?.isUsable ?? false { continue }
        state.asked[item.name] = server.item(at: path(of: item.name), named: item.name)
      }
    }
  }

  /// Returns the entry of this name from a request of its own, with information that listings lack.
  func single(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> ServerItem? {
    let (known, fetch): (Known?, SharedFetch<ServerItem?>?) = state.withLock { state in
      if let known = state.items[name], isValid(known, name) { return (known, nil) }
      if let fetch = state.asked[name], fetch.isUsable,
        isOfPresent(asked: fetch.begun, name, isView: fetch.success?.map { isView($0) } ?? true)
      {
        return (nil, fetch)
      }
      state.makeRoom()
      let fetch = server.item(at: path(of: name), named: name)
      state.asked[name] = fetch
      return (nil, fetch)
    }
    if let known { return try known.result.get() }
    guard let fetch else { throw .later }
    server.live?.want(path, server)
    let result = Result { () throws(Fault) in try fetch.value(blocking) }
    if case .failure(let fault) = result, fault.isDelay { throw fault }
    let took = fetch.took
    state.withLock { $0.waited &+= took }
    keep(result, for: name, of: fetch)
    return try result.get()
  }

  private func isValid(_ known: Known, _ name: FileName) -> Bool {
    let isCurrent = HTTPClient.now < known.until || server.live?.isCurrent(path, since: known.begun) ?? false
    guard isCurrent else { return false }
    // A name that was absent may be that of a new view.
    let mayBeView = if case .success(let item?) = known.result { isView(item) } else { true }
    return isOfPresent(asked: known.asked, name, isView: mayBeView)
  }

  private func keep(_ result: Result<ServerItem?, Fault>, for name: FileName, of fetch: SharedFetch<ServerItem?>) {
    let now = HTTPClient.now
    let isLasting = if case .success(let item) = result { item?.view == nil } else { false }
    let until = fetch.end ?? now
    state.withLock { state in
      state.asked[name] = nil
      if state.items.count >= Self.mostItems { state.items = state.items.filter { $0.value.until > now } }
      if state.items.count < Self.mostItems {
        state.items[name] = Known(result: result, until: until, begun: isLasting ? fetch.begun : 0, asked: fetch.begun)
      }
    }
  }

  /// Waits for the bytes of a small file if they are requested together with those of others.
  ///
  /// - Parameter isKnown: whether the current bytes are known already.
  func prepareContent(of name: FileName, isKnown: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard !isView, let snapshot = lastSnapshot, let all = server.smallFiles, let files = all.files(in: path) else {
      return
    }
    try files.prepare(name, snapshot, in: self, of: all, isKnown: isKnown, blocking)
  }

  /// Invalidates an entry that has turned out to be outdated.
  func doubt(_ name: FileName) {
    server.listings[path]?.expire()
    state.withLock { state in
      state.snapshot?.expire()
      state.items[name] = nil
      state.asked[name] = nil
      state.listing = nil
    }
  }
}
