public import Bytes
internal import Glibc
internal import Locks
internal import Threads

/// An open directory. Lists its names in order, each file followed by its views.
public final class DirectoryHandle: Sendable {
  /// A directory entry.
  public struct Row: Sendable {
    public let name: ListedName
    public let inode: UInt64
    public let kind: Kind
    /// The position after this row, at which a listing continues. Never 0.
    public let cookie: UInt64
    /// The view of this name, if any.
    fileprivate var view: ListedView?
    /// The value of `user.ffmount.view`. `nil` if the row is not a view.
    public var viewName: String? { view.map { $0.view.viewName(beside: $0.file) } }
  }

  let tree: Tree
  let node: Node
  /// The credentials of the process that opened the directory.
  private let caller: Credentials?
  /// Whether the listing contains views.
  private let hasViews: Bool
  /// A lock held while `state` is accessed, so that no thread blocks on the mutex of `state`.
  private let turn = CancellableLock()
  private let state: UnfairLock<State>
  /// The directory's node ID.
  public var folder: UInt64 { UInt64(node.id) }
  /// Whether the kernel may cache the whole listing until it is invalidated. False for a listing without views, since
  /// the kernel would give it to all processes. False in a mount for several users, where the kernel would list names of
  /// a source that has become private to a process that has the directory open.
  public var isCacheable: Bool { hasViews && node.item.isImmutable && !tree.isShared }
  /// Whether the kernel's cached listing is still valid.
  public let keepsCache: Bool
  public var attributeCost: AttributeCost { node.item.attributeCost }
  var realFolder: RealFolder? { node.item as? RealFolder }

  private struct State {
    var listing: any DirectoryCursor
    /// The state of the source that `listing` shows.
    var sourceState: UInt64
    /// The current block of the listing, the index of the next entry, and the remaining views of the entry before that.
    var entries: [ListedEntry] = []
    var nextEntry = 0
    var views: ArraySlice<ListedView> = []
    /// The next block, if read ahead.
    var ahead: [ListedEntry]?
    /// The row that was offered and refused.
    var refused: Row?
    /// The directory at the last call.
    var item: (any Item)?
    /// Whether the call is not repeated if the source seems to have changed.
    var isLastAttempt = false
    /// The last file and the last view that were looked up. Each is needed several times in a row.
    var file: LookupResult?
    var view: LookupResult?
    /// The names of `file` and `view`.
    var fileName: FileName?
    var viewName: FileName?
    /// The cookie of the last row taken.
    var cookie: UInt64 = 0
    /// The position before the next file, or after the rows of the last one that were returned.
    var position = RowPosition.start
    /// The listing's offsets before and after the block.
    var start: Int64 = 0
    var place: Int64 = 0

    init(_ listing: any DirectoryCursor, of sourceState: UInt64) {
      self.listing = listing
      self.sourceState = sourceState
    }

    /// Continues at an offset of the listing.
    mutating func go(to cookie: UInt64, at place: Int64) {
      (self.cookie, self.place, start) = (cookie, place, place)
      position = RowPosition(before: place)
      (entries, nextEntry, views) = ([], 0, [])
      (ahead, refused) = (nil, nil)
      (file, view, fileName, viewName) = (nil, nil, nil, nil)
    }

    /// Passes a row of a file. Returns the row's cookie.
    mutating func pass(_ name: FileName) -> UInt64 {
      position =
        views.isEmpty && nextEntry > 0
        ? RowPosition(before: entries[nextEntry - 1].next)
        : RowPosition(before: position.offset, passed: position.passed + 1, of: name)
      return position.number
    }
  }

  init(
    _ tree: Tree, _ node: Node, _ listing: any DirectoryCursor, of sourceState: UInt64, keepsCache: Bool,
    hasViews: Bool = true, _ caller: Credentials? = nil
  ) {
    self.tree = tree
    self.node = node
    self.keepsCache = keepsCache
    self.hasViews = hasViews
    state = UnfairLock(State(listing, of: sourceState))
    self.caller = caller
  }

  /// Offers the rows after `cookie`, 0 for the start, until `take` refuses one or the directory ends.
  ///
  /// `entry` looks the row up and adds a lookup. It returns `nil` if the entry has vanished. If it throws a fault that
  /// `allowsName`, `take` can take the name alone. Throws only if no row was taken.
  public func read(
    after cookie: UInt64, for caller: Credentials? = nil, _ blocking: BlockingMode,
    _ take: (Row, _ entry: () throws(Fault) -> Tree.Entry?) throws(Fault) -> Bool
  ) throws(Fault) {
    if node.item.content != nil, let opener = self.caller, opener.user != 0 {
      // A view may now show another file, with other permissions.
      try tree.check(4, node, tree.present(node, blocking), for: caller ?? opener, blocking)
    }
    try rows(after: cookie, blocking) { (row, state) throws(Fault) in
      try take(row) { () throws(Fault) in try entry(row, &state, blocking) }
    }
  }

  /// Reads rows without creating nodes. `attributes` costs at most one stat(2).
  public func readAttributes(
    after cookie: UInt64, _ blocking: BlockingMode,
    _ take: (Row, _ attributes: () throws(Fault) -> Attributes?) throws(Fault) -> Bool
  ) throws(Fault) {
    try rows(after: cookie, blocking) { (row, state) throws(Fault) in
      try take(row) { () throws(Fault) in try attributes(row, &state, blocking) }
    }
  }

  private func rows(
    after cookie: UInt64, _ blocking: BlockingMode, _ take: (Row, inout State) throws(Fault) -> Bool
  ) throws(Fault) {
    try turn.lock(blocking)
    defer { turn.unlock() }
    var attempt = 1
    while true {
      do throws(Fault) { return try rows(after: cookie, attempt: attempt, blocking, take) } catch {
        // The source may have changed meanwhile.
        guard error.isOfEarlierState, attempt < Tree.attempts else { throw error.kind == .changed ? .stale : error }
        attempt += 1
      }
    }
  }

  private func rows(
    after cookie: UInt64, attempt: Int, _ blocking: BlockingMode, _ take: (Row, inout State) throws(Fault) -> Bool
  ) throws(Fault) {
    var taken = false
    var fault: Fault?
    state.withLock { state in
      do throws(Fault) {
        // Time may have passed since the last call.
        (state.fileName, state.viewName) = (nil, nil)
        state.isLastAttempt = attempt == Tree.attempts
        if cookie <= 2 || !state.listing.outlivesChanges { try renew(&state, isDoubted: attempt > 1, blocking) }
        state.item = node.item
        try seek(&state, cookie, blocking)
        while let row = try next(&state, blocking) {
          var isTaken = false
          // A row that is refused or fails is offered again.
          defer { if !isTaken { state.refused = row } }
          isTaken = try take(row, &state)
          guard isTaken else { return }
          taken = true
          state.cookie = row.cookie
        }
      } catch { if !taken { fault = error } }
    }
    if let fault { throw fault }
  }

  /// Reads ahead while the reply is sent, so that the next read is faster. May block on the disk.
  public func prepare() {
    // If the reader is locked, another thread is reading.
    guard (try? turn.lock(.immediate)) != nil else { return }
    defer { turn.unlock() }
    state.withLock { state in
      guard state.cookie > 2, state.ahead == nil, state.entries.count - state.nextEntry < 256, !state.entries.isEmpty
      else { return }
      // A fault will occur again when the block is read.
      do throws(Fault) { state.ahead = try state.listing.entries(after: state.place, .immediate) } catch {}
    }
  }

  private func entry(_ row: Row, _ state: inout State, _ blocking: BlockingMode) throws(Fault) -> Tree.Entry? {
    let name = row.name.fileName
    if let view = row.view {
      return try find(view, &state, blocking).map { (found) throws(Fault) in
        try tree.entry(found, node.depth + 1, name, in: node)
      }
    }
    return try find(name, &state, blocking).map { (found) throws(Fault) in
      try tree.entry(found, node.depth, name, in: node)
    }
  }

  private func attributes(_ row: Row, _ state: inout State, _ blocking: BlockingMode) throws(Fault) -> Attributes? {
    let attributes: Attributes?
    if let view = row.view {
      attributes = try find(view, &state, blocking)?.attributes
    } else if !state.views.isEmpty || state.fileName != nil {
      // The item is also needed for the file's views.
      attributes = try find(row.name.fileName, &state, blocking)?.attributes
    } else {
      attributes = try found(&state) { (state) throws(Fault) in try state.item?.attributes(of: row.name, blocking) }
    }
    return attributes.map { tree.overrides.applied(to: $0) }
  }

  /// Returns the result of a lookup of one name.
  ///
  /// On the last attempt, a fault that could result from a change of the source is taken for the name's own.
  private func found<Value>(_ state: inout State, _ lookup: (inout State) throws(Fault) -> Value) throws(Fault) -> Value
  {
    do throws(Fault) { return try lookup(&state) } catch {
      guard state.isLastAttempt, error.isOfEarlierState else { throw error }
      throw Fault(.system(EIO), error.reason, atByte: error.offset)
    }
  }

  private func find(_ name: FileName, _ state: inout State, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    if state.fileName == name { return state.file }
    state.fileName = nil
    state.file = try found(&state) { (_) throws(Fault) in try node.item.child(named: name, blocking) }
    state.fileName = name
    return state.file
  }

  private func find(_ view: ListedView, _ state: inout State, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    if state.viewName == view.name { return state.view }
    state.view = try find(view.file, &state, blocking).flatMap { (file) throws(Fault) in
      try found(&state) { (_) throws(Fault) in try tree.find(view, of: file, in: node, caller, blocking) }
    }
    state.viewName = view.name
    return state.view
  }

  /// Returns a view's inode number. Returns a substitute other than 0 if the view has just vanished or cannot be looked
  /// up, or if its source would have to be decoded.
  private func inode(of view: ListedView, _ state: inout State, _ blocking: BlockingMode) throws(Fault) -> UInt64 {
    if attributeCost != .large {
      do throws(Fault) { if let found = try find(view, &state, blocking) { return found.item.inode } } catch {
        guard error.allowsName else { throw error }
      }
    }
    var hash = StableHash(seed: node.item.inode)
    hash.combine(view.name.bytes)
    return hash.value | 1
  }

  /// Continues in the listing of the source's current state, after the last entry returned.
  private func renew(_ state: inout State, isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    let item: any Item
    do throws(Fault) { item = try tree.present(node, isDoubted: isDoubted, blocking) } catch {
      // If the directory itself is gone, the listing continues with its remaining entries.
      if error.isAboutName { return }
      throw error
    }
    let sourceState = item.sourceState
    if sourceState == state.sourceState { return }
    let listing = try item.listing(blocking)
    let listed = state.entries.prefix(state.nextEntry)
    if !listed.isEmpty {
      // The entry is usually still in the same block.
      var position = try find(lastOf: listed, in: listing, from: state.start, blocking)
      if position == nil { position = try find(lastOf: listed, in: listing, from: 0, blocking) }
      if let position {
        // The preceding entries are kept, since this one may vanish next.
        state.entries = Array(listed[...position.entry] + position.rest)
        (state.nextEntry, state.start, state.place) = (position.entry + 1, position.start, position.place)
      } else {
        let entries = try listing.entries(after: state.start, blocking)
        state.entries = Array(listed + entries.dropFirst(state.nextEntry))
        state.place = entries.last?.next ?? state.start
      }
    } else {
      state.entries = []
    }
    state.listing = listing
    state.sourceState = sourceState
    state.ahead = nil
  }

  /// The position in a new listing that follows an entry of the earlier one.
  private struct Continuation {
    /// The index of the entry in the earlier listing.
    var entry: Int
    /// The entries after it in its block of the new listing, and the offsets before and after the block.
    var rest: ArraySlice<ListedEntry>
    var start: Int64
    var place: Int64
  }

  /// Finds the last of the entries that still exists in a listing, from the block at `place` on.
  private func find(
    lastOf listed: ArraySlice<ListedEntry>, in listing: any DirectoryCursor, from place: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Continuation? {
    let indices = Dictionary(
      listed.indices.map { (listed[$0].name.fileName, $0) }, uniquingKeysWith: { _, last in last })
    var found: Continuation?
    var place = place
    while found?.entry != listed.indices.last {
      let entries = try listing.entries(after: place, blocking)
      guard let last = entries.last else { break }
      let before = found?.entry
      for (offset, entry) in entries.enumerated() {
        guard let index = indices[entry.name.fileName], index > found?.entry ?? -1 else { continue }
        found = Continuation(entry: index, rest: entries[(offset + 1)...], start: place, place: last.next)
      }
      place = last.next
      // The later entries have vanished.
      if before != nil, found?.entry == before { break }
    }
    return found
  }

  private func seek(_ state: inout State, _ cookie: UInt64, _ blocking: BlockingMode) throws(Fault) {
    if state.cookie == cookie { return }
    guard cookie > RowPosition.behindDot else { return state.go(to: cookie, at: 0) }
    let position = RowPosition(number: cookie)
    // Not at any cookie until all rows are passed.
    state.go(to: .max, at: position.offset)
    for number in 0..<position.passed where number == 0 || !state.views.isEmpty {
      guard let row = try next(&state, blocking) else { break }
      // The file itself may have been removed. The row is then that of the next file.
      if number == 0, RowPosition.tag(of: row.name.fileName) != position.tag {
        state.refused = row
        break
      }
    }
    state.cookie = cookie
  }

  /// Returns the row after the last one taken. The caller takes it or puts it back as refused.
  private func next(_ state: inout State, _ blocking: BlockingMode) throws(Fault) -> Row? {
    if let row = state.refused.take() { return row }
    if state.cookie < RowPosition.start.number {
      let isDot = state.cookie == 0
      let inode = isDot ? node.inode : node.parent?.inode ?? node.inode
      let cookie = isDot ? RowPosition.behindDot : RowPosition.start.number
      return Row(name: ListedName(isDot ? "." : ".."), inode: inode, kind: .folder, cookie: cookie)
    }
    if let view = state.views.first {
      let inode = try inode(of: view, &state, blocking)
      state.views.removeFirst()
      let cookie = state.pass(view.file)
      return Row(name: ListedName(view.name), inode: inode, kind: view.view.kind, cookie: cookie, view: view)
    }
    while state.nextEntry == state.entries.count || state.entries[state.nextEntry].isView && !hasViews {
      if state.nextEntry < state.entries.count {
        state.nextEntry += 1
        continue
      }
      let ahead = state.ahead.take()
      let entries = if let ahead { ahead } else { try state.listing.entries(after: state.place, blocking) }
      guard let last = entries.last else { return nil }
      state.entries = entries
      state.nextEntry = 0
      (state.start, state.place) = (state.place, last.next)
    }
    let entry = state.entries[state.nextEntry]
    // May throw, so the position is advanced afterwards.
    do throws(Fault) {
      if entry.kind == .file, hasViews {
        state.views = try tree.listedViews(beside: entry.name, in: node, caller, blocking) { (name) throws(Fault) in
          try find(name, &state, blocking)
        }[...]
      }
      if entry.kind == .folder, hasViews, !tree.views.listedBesideFolders.isEmpty {
        state.views = try tree.listedViews(besideFolder: entry.name.fileName, in: node, caller, blocking)[...]
      }
    } catch {
      // A name whose attributes cannot be read is shown without views: in a directory that cannot be searched, all.
      guard error.allowsName || state.isLastAttempt && error.isOfEarlierState else { throw error }
    }
    state.nextEntry += 1
    let cookie = state.pass(entry.name.fileName)
    return Row(name: entry.name, inode: entry.inode, kind: entry.kind, cookie: cookie)
  }
}
