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
  private let listing: any Listing
  /// Who opened the folder.
  private let asker: Asker?
  /// Held by who touches `state`, whose own lock nobody then has to wait for.
  private let turn = TurnLock()
  private let state = Mutex(State())
  /// The folder's number.
  public var folder: UInt64 { UInt64(node.id) }
  /// Whether the kernel may keep the whole listing.
  public var isImmutable: Bool { node.item.isImmutable }
  public var attributeCost: AttributeCost { node.item.attributeCost }

  private struct State {
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
  }

  init(_ tree: Tree, _ node: Node, _ listing: any Listing, _ asker: Asker? = nil) {
    self.tree = tree
    self.node = node
    self.listing = listing
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
    var taken = false
    var fault: Fault?
    try turn.lock(patience)
    defer { turn.unlock() }
    state.withLock { state in
      do throws(Fault) {
        // Some time may have passed.
        (state.fileName, state.viewName) = (nil, nil)
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
      do throws(Fault) { state.ahead = try listing.entries(after: state.place, .immediate) } catch {}
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

  private func seek(_ state: inout State, _ cookie: UInt64, _ patience: Patience) throws(Fault) {
    if state.cookie == cookie { return }
    // Back to the block that holds the row, then on within it.
    let block = state.blocks.last { $0.cookie <= cookie } ?? (0, 0)
    let blocks = state.blocks
    state = State(cookie: block.cookie, place: block.place, blocks: blocks)
    while state.cookie < cookie, let row = try next(&state, patience) { state.cookie = row.cookie }
  }

  /// The row behind the last one taken; the caller takes it or puts it back as refused.
  private func next(_ state: inout State, _ patience: Patience) throws(Fault) -> Row? {
    if let row = state.refused.take() { return row }
    let cookie = state.cookie + 1
    if cookie <= 2 {
      let item = cookie == 1 ? node.item : node.parent?.item ?? node.item
      return Row(name: ListedName(cookie == 1 ? "." : ".."), inode: item.inode, kind: .folder, cookie: cookie)
    }
    if let view = state.views.first {
      let inode = try inode(of: view, &state, patience)
      state.views.removeFirst()
      return Row(name: ListedName(view.name), inode: inode, kind: view.view.kind, cookie: cookie, view: view)
    }
    if state.nextEntry == state.entries.count {
      let ahead = state.ahead.take()
      let entries = if let ahead { ahead } else { try listing.entries(after: state.place, patience) }
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
