import Bytes
import Glibc
import ServerAnswers
import Synchronization
import Threads

/// What is known of a folder's entries, and what is asked for.
final class FolderState: Sendable {
  let path: [UInt8]
  let server: Server

  private struct State {
    weak var snapshot: Snapshot?
    var listing: Fetch<Snapshot>?
    var items: [FileName: Known] = [:]
    var asked: [FileName: Fetch<ServerItem?>] = [:]
    /// How many single items were asked for since the last listing.
    var singles = 0
  }

  private struct Known: Sendable {
    var result: Result<ServerItem?, Fault>
    var until: UInt64
  }

  private let state = Mutex(State())

  private static let mostItems = 512
  /// Of one in so many entries each by itself is asked before all are listed again.
  private static let listingShare = 64
  private static let fewest = 4

  /// - Parameter path: `/` for the root, without a slash at its end else.
  init(_ path: [UInt8], _ server: Server) {
    self.path = path
    self.server = server
  }

  func path(of name: FileName) -> [UInt8] { (path.count == 1 ? [] : path) + [UInt8(ascii: "/")] + name.bytes }

  /// The entries by now.
  func snapshot(_ patience: Patience) throws(Fault) -> Snapshot {
    let known = server.listings[path]
    let (fresh, fetch): (Snapshot?, Fetch<Snapshot>?) = state.withLock { state in
      let known = known ?? state.snapshot
      if let known, known.isFresh { return (known, nil) }
      if let listing = state.listing, listing.isUsable { return (nil, listing) }
      state.singles = 0
      let fetch = server.listing(of: path, known: known)
      state.listing = fetch
      return (nil, fetch)
    }
    if let fresh { return fresh }
    guard let fetch else { throw .later }
    let snapshot = try fetch.value(patience)
    state.withLock { $0.snapshot = snapshot }
    return snapshot
  }

  /// The entry of this name by now; nil if there is none.
  func item(_ name: FileName, _ patience: Patience) throws(Fault) -> ServerItem? {
    let snapshot = server.listings[path] ?? state.withLock { $0.snapshot }
    if let snapshot, let item = snapshot[name] {
      if snapshot.isFresh { return item }
      let wantsAll = state.withLock { state in
        state.singles > max(Self.fewest, snapshot.items.count / Self.listingShare)
      }
      if wantsAll, let item = try self.snapshot(patience)[name] { return item }
    }
    return try single(name, patience)
  }

  /// The same, asked for by itself: with what a listing does not tell.
  func single(_ name: FileName, _ patience: Patience) throws(Fault) -> ServerItem? {
    let now = Wire.now
    let (known, fetch): (Known?, Fetch<ServerItem?>?) = state.withLock { state in
      if let known = state.items[name], known.until > now { return (known, nil) }
      if let fetch = state.asked[name], fetch.isUsable { return (nil, fetch) }
      if state.asked.count >= Self.mostItems { state.asked = state.asked.filter { $0.value.isUsable } }
      state.singles += 1
      let fetch = server.item(at: path(of: name), named: name)
      state.asked[name] = fetch
      return (nil, fetch)
    }
    if let known { return try known.result.get() }
    guard let fetch else { throw .later }
    let result = Result { () throws(Fault) in try fetch.value(patience) }
    if case .failure(let fault) = result, fault.isDelay { throw fault }
    keep(result, for: name, until: fetch.end ?? now)
    return try result.get()
  }

  private func keep(_ result: Result<ServerItem?, Fault>, for name: FileName, until: UInt64) {
    let now = Wire.now
    state.withLock { state in
      state.asked[name] = nil
      if state.items.count >= Self.mostItems { state.items = state.items.filter { $0.value.until > now } }
      if state.items.count < Self.mostItems {
        state.items[name] = Known(result: result, until: until)
      }
    }
  }

  /// Records that something else is there than what is known of this entry.
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
