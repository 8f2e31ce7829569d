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

  private struct State {
    weak var snapshot: Snapshot?
    var listing: SharedFetch<Snapshot>?
    var items: [FileName: Known] = [:]
    var asked: [FileName: SharedFetch<ServerItem?>] = [:]
    /// The total duration of requests for single entries since the last listing, in nanoseconds.
    var waited: UInt64 = 0
  }

  private struct Known: Sendable {
    var result: Result<ServerItem?, Fault>
    var until: UInt64
    /// The time of the request, in nanoseconds. 0 for an item of a view, whose size changes when it has been made.
    var begun: UInt64
  }

  private let state = UnfairLock(State())

  private static let mostItems = 512

  /// - Parameter path: `/` for the root, otherwise without a trailing slash.
  init(_ path: [UInt8], _ server: RemoteServer) {
    self.path = path
    depth = path.split(separator: UInt8(ascii: "/")).count
    self.server = server
  }

  func path(of name: FileName) -> [UInt8] { (path.count == 1 ? [] : path) + [UInt8(ascii: "/")] + name.bytes }

  private func isValid(_ snapshot: Snapshot) -> Bool { snapshot.isFresh || snapshot.isCurrent(path, server.live) }

  /// Returns the current entries.
  func snapshot(_ blocking: BlockingMode) throws(Fault) -> Snapshot {
    let known = server.listings[path]
    let (fresh, fetch): (Snapshot?, SharedFetch<Snapshot>?) = state.withLock { state in
      let known = known ?? state.snapshot
      if let known, isValid(known) { return (known, nil) }
      if let listing = state.listing, listing.isUsable { return (nil, listing) }
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
      guard let item = try snapshot(blocking)[name] else { return nil }
      return server.interface.listsAttributes || item.kind != .file ? item : try single(name, blocking)
    }
    let snapshot = server.listings[path] ?? state.withLock { $0.snapshot }
    if let snapshot, let item = snapshot[name] {
      if isValid(snapshot) { return item }
      // Once single requests have taken as long as a listing, more of them are likely to follow.
      if state.withLock({ $0.waited > snapshot.took }), let item = try self.snapshot(blocking)[name] { return item }
    }
    return try single(name, blocking)
  }

  /// Returns the entry of this name from a request of its own, with information that listings lack.
  func single(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> ServerItem? {
    let now = HTTPClient.now
    let (known, fetch): (Known?, SharedFetch<ServerItem?>?) = state.withLock { state in
      if let known = state.items[name], known.until > now || isCurrent(known) { return (known, nil) }
      if let fetch = state.asked[name], fetch.isUsable { return (nil, fetch) }
      if state.asked.count >= Self.mostItems { state.asked = state.asked.filter { $0.value.isUsable } }
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

  private func isCurrent(_ known: Known) -> Bool { server.live?.isCurrent(path, since: known.begun) ?? false }

  private func keep(_ result: Result<ServerItem?, Fault>, for name: FileName, of fetch: SharedFetch<ServerItem?>) {
    let now = HTTPClient.now
    let isLasting = if case .success(let item) = result { item?.view == nil } else { false }
    let until = fetch.end ?? now
    state.withLock { state in
      state.asked[name] = nil
      if state.items.count >= Self.mostItems { state.items = state.items.filter { $0.value.until > now } }
      if state.items.count < Self.mostItems {
        state.items[name] = Known(result: result, until: until, begun: isLasting ? fetch.begun : 0)
      }
    }
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
