public import Bytes
internal import Synchronization
internal import Threads

/// A folder that is open: its names front to back, each file's views right behind it.
public final class FolderReader: Sendable {
  /// A name in a folder.
  public struct Row: Sendable {
    public let name: ListedName
    public let inode: UInt64
    public let kind: Kind
    /// To go on behind this row; never 0.
    public let cookie: UInt64
    /// What the name stands for when it is a view's.
    fileprivate var view: ListedView?
    /// What `user.ffmount.view` says of a view; nil for anything else.
    var viewName: String? { view?.view.name }
  }

  private let tree: Tree
  private let node: Node
  /// Who opened the folder.
  private let asker: Asker?
  /// Held by who touches `state`, whose own lock nobody then has to wait for.
  private let turn = TurnLock()
  private let state: Mutex<State>
  /// The folder's number.
  public var folder: UInt64 { UInt64(node.id) }
  /// Whether the kernel may keep the whole listing, for as long as it is not told otherwise.
  public var isImmutable: Bool { node.item.isImmutable }
  /// Whether the listing that it has is this one.
  public let keepsCache: Bool
  public var attributeCost: AttributeCost { node.item.attributeCost }

  private struct State {
    var listing: any Listing
    /// Of the source, that `listing` is of.
    var sourceState: UInt64
    /// A block of the listing, the next of its entries, and the views of the one before that.
    var entries: [ListedEntry] = []
    var nextEntry = 0
    var views: ArraySlice<ListedView> = []
    /// The block after it, when it has been read already.
    var ahead: [ListedEntry]?
    /// The row that was offered and not taken.
    var refused: Row?
    /// The last file that was looked up, and the last view: each is wanted several times in a row.
    var file: Found?
    var view: Found?
    /// Their names.
    var fileName: FileName?
    var viewName: FileName?
    /// The cookie of the last row that was taken.
    var cookie: UInt64 = 0
    /// Where the listing goes on behind the block.
    var place: Int64 = 0
    /// Where each block read so far started, so that a cookie can be gone back to.
    var blocks: [(cookie: UInt64, place: Int64)] = []

    init(_ listing: any Listing, of sourceState: UInt64) {
      self.listing = listing
      self.sourceState = sourceState
    }

    /// Goes on behind a row that a block ended with.
    mutating func goBack(to cookie: UInt64, at place: Int64) {
      (self.cookie, self.place) = (cookie, place)
      (entries, nextEntry, views) = ([], 0, [])
      (ahead, refused) = (nil, nil)
      (file, view, fileName, viewName) = (nil, nil, nil, nil)
    }
  }

  init(
    _ tree: Tree, _ node: Node, _ listing: any Listing, of sourceState: UInt64, keepsCache: Bool, _ asker: Asker? = nil
  ) {
    self.tree = tree
    self.node = node
    self.keepsCache = keepsCache
    state = Mutex(State(listing, of: sourceState))
    self.asker = asker
  }

  /// Offers the rows behind `cookie`, 0 for the start, until `take` refuses one or the folder ends.
  ///
  /// With each comes what looks up what it stands for and counts one lookup; that gives nil when it has vanished. Throws only
  /// when nothing was taken.
  public func read(
    after cookie: UInt64, _ patience: Patience,
    _ take: (Row, _ entry: () throws(Fault) -> Tree.Entry?) throws(Fault) -> Bool
  ) throws(Fault) {
    try turn.lock(patience)
    defer { turn.unlock() }
    var attempt = 1
    while true {
      do throws(Fault) { return try read(after: cookie, isDoubted: attempt > 1, patience, take) } catch {
        // The state that is listed may have gone meanwhile.
        guard error.isOfEarlierState, attempt < Tree.attempts else { throw error.kind == .changed ? .stale : error }
        attempt += 1
      }
    }
  }

  private func read(
    after cookie: UInt64, isDoubted: Bool, _ patience: Patience,
    _ take: (Row, _ entry: () throws(Fault) -> Tree.Entry?) throws(Fault) -> Bool
  ) throws(Fault) {
    var taken = false
    var fault: Fault?
    state.withLock { state in
      do throws(Fault) {
        // Some time may have passed.
        (state.fileName, state.viewName) = (nil, nil)
        try renew(&state, isDoubted: isDoubted, patience)
        try seek(&state, cookie, patience)
        while let row = try next(&state, patience) {
          // Until it is taken.
          state.refused = row
          guard try take(row, { () throws(Fault) in try entry(row, &state, patience) }) else { return }
          state.refused = nil
          taken = true
          state.cookie = row.cookie
        }
      } catch { if !taken { fault = error } }
    }
    if let fault { throw fault }
  }

  /// Reads on while the answer is on its way, so that the next one has less to wait for. May block on the disk.
  public func prepare() {
    // Whoever has it reads himself.
    guard (try? turn.lock(.immediate)) != nil else { return }
    defer { turn.unlock() }
    state.withLock { state in
      guard state.cookie > 2, state.ahead == nil, state.entries.count - state.nextEntry < 256, !state.entries.isEmpty
      else { return }
      // What goes wrong now shows again when it is asked for.
      do throws(Fault) { state.ahead = try state.listing.entries(after: state.place, .immediate) } catch {}
    }
  }

  private func entry(_ row: Row, _ state: inout State, _ patience: Patience) throws(Fault) -> Tree.Entry? {
    let name = row.name.fileName
    if let view = row.view {
      return try find(view, &state, patience).map { tree.entry($0, node.depth + 1, name, in: node) }
    }
    return try find(name, &state, patience).map { tree.entry($0, node.depth, name, in: node) }
  }

  private func find(_ name: FileName, _ state: inout State, _ patience: Patience) throws(Fault) -> Found? {
    if state.fileName == name { return state.file }
    state.file = try node.item.child(named: name, patience)
    state.fileName = name
    return state.file
  }

  private func find(_ view: ListedView, _ state: inout State, _ patience: Patience) throws(Fault) -> Found? {
    if state.viewName == view.name { return state.view }
    state.view = try find(view.file, &state, patience).flatMap { (file) throws(Fault) in
      try tree.find(view, of: file, in: node, asker, patience)
    }
    state.viewName = view.name
    return state.view
  }

  /// A view's number; another one, but not 0, for a view that has just vanished and where finding it would cost decoding its
  /// source.
  private func inode(of view: ListedView, _ state: inout State, _ patience: Patience) throws(Fault) -> UInt64 {
    if attributeCost != .large, let found = try find(view, &state, patience) { return found.item.inode }
    var hash = StableHash(seed: node.item.inode)
    hash.combine(view.name.bytes)
    return hash.value | 1
  }

  /// Goes on with the listing of the source's present state, behind the last entry that was given.
  private func renew(_ state: inout State, isDoubted: Bool, _ patience: Patience) throws(Fault) {
    let item: any Item
    do throws(Fault) { item = try tree.present(node, isDoubted: isDoubted, patience) } catch {
      // Where the folder itself has gone, what there still is of its names is told.
      if error.isAboutName { return }
      throw error
    }
    let sourceState = item.sourceState
    if sourceState == state.sourceState { return }
    let listing = try item.listing(patience)
    let last = state.nextEntry > 0 ? state.entries[state.nextEntry - 1].name.fileName : nil
    let start = state.blocks.last?.place ?? 0
    var position: (rest: ArraySlice<ListedEntry>, place: Int64)?
    if let last {
      // Mostly it is where it was.
      position = try find(last, in: listing, from: start, patience)
      if position == nil { position = try find(last, in: listing, from: 0, patience) }
      if position == nil {
        let entries = try listing.entries(after: start, patience)
        position = (entries.dropFirst(state.nextEntry), entries.last?.next ?? start)
      }
    }
    state.listing = listing
    state.sourceState = sourceState
    state.ahead = nil
    state.blocks = []
    state.entries = last == nil ? [] : [state.entries[state.nextEntry - 1]] + (position?.rest ?? [])
    state.nextEntry = last == nil ? 0 : 1
    state.place = position?.place ?? state.place
  }

  /// What comes behind a name in the block that has it, the first from `place` on, and the place behind that.
  private func find(
    _ name: FileName, in listing: any Listing, from place: Int64, _ patience: Patience
  ) throws(Fault) -> (rest: ArraySlice<ListedEntry>, place: Int64)? {
    var place = place
    while true {
      let entries = try listing.entries(after: place, patience)
      guard let last = entries.last else { return nil }
      place = last.next
      if let found = entries.firstIndex(where: { $0.name.fileName == name }) { return (entries[(found + 1)...], place) }
    }
  }

  private func seek(_ state: inout State, _ cookie: UInt64, _ patience: Patience) throws(Fault) {
    if state.cookie == cookie { return }
    // Back to the block that holds the row, then on within it.
    let block = state.blocks.last { $0.cookie <= cookie } ?? (0, 0)
    state.goBack(to: block.cookie, at: block.place)
    while state.cookie < cookie, let row = try next(&state, patience) { state.cookie = row.cookie }
  }

  /// The row behind the last one taken; the caller takes it or puts it back as refused.
  private func next(_ state: inout State, _ patience: Patience) throws(Fault) -> Row? {
    if let row = state.refused.take() { return row }
    let cookie = state.cookie + 1
    if cookie <= 2 {
      let inode = cookie == 1 ? node.inode : node.parent?.inode ?? node.inode
      return Row(name: ListedName(cookie == 1 ? "." : ".."), inode: inode, kind: .folder, cookie: cookie)
    }
    if let view = state.views.first {
      let inode = try inode(of: view, &state, patience)
      state.views.removeFirst()
      return Row(name: ListedName(view.name), inode: inode, kind: view.view.kind, cookie: cookie, view: view)
    }
    if state.nextEntry == state.entries.count {
      let ahead = state.ahead.take()
      let entries = if let ahead { ahead } else { try state.listing.entries(after: state.place, patience) }
      guard let last = entries.last else { return nil }
      if state.blocks.last.map({ $0.cookie < state.cookie }) ?? true {
        state.blocks.append((state.cookie, state.place))
      }
      state.entries = entries
      state.nextEntry = 0
      state.place = last.next
    }
    let entry = state.entries[state.nextEntry]
    // May throw: only then on to the next entry.
    if entry.kind == .file { state.views = try tree.listedViews(beside: entry.name, in: node, asker, patience)[...] }
    state.nextEntry += 1
    return Row(name: entry.name, inode: entry.inode, kind: entry.kind, cookie: cookie)
  }
}
