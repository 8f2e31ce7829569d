public import Bytes
internal import Synchronization

/// A folder that is open: its names front to back, each file's views right behind it.
public final class FolderReader: Sendable {
  /// A name in a folder.
  public struct Row: Sendable {
    public let name: FileName
    public let inode: UInt64
    public let kind: Kind
    /// To go on behind this row; never 0.
    public let cookie: UInt64
  }

  private let tree: Tree
  private let node: Node
  private let listing: any Listing
  private let state = Mutex(State())
  /// Whether the kernel may keep the whole listing.
  public var isImmutable: Bool { node.item.isImmutable }

  private struct State {
    /// The rows that come next.
    var rows: [Row] = []
    var next = 0
    /// The cookie that the row at `next` follows.
    var cookie: UInt64 = 0
    /// Where the listing goes on when the rows are used up.
    var place: Int64 = 0
    /// Where each block read so far started, so that a cookie can be gone back to.
    var blocks: [(cookie: UInt64, place: Int64)] = []
  }

  init(_ tree: Tree, _ node: Node, _ listing: any Listing) {
    self.tree = tree
    self.node = node
    self.listing = listing
  }

  /// Offers the rows behind `cookie`, 0 for the start, until `take` refuses one or the folder ends.
  ///
  /// Throws only when nothing was taken.
  public func read(
    after cookie: UInt64, _ patience: Patience, _ take: (Row) throws(Fault) -> Bool
  ) throws(Fault) {
    var taken = false
    var fault: Fault?
    state.withLock { state in
      do throws(Fault) {
        try seek(&state, cookie)
        while let row = try next(&state, patience) {
          guard try take(row) else { return }
          taken = true
          state.next += 1
          state.cookie = row.cookie
        }
      } catch { if !taken { fault = error } }
    }
    if let fault { throw fault }
  }

  /// What `row` stands for, one lookup counted; nil when it has vanished.
  public func entry(_ row: Row, _ patience: Patience) throws(Fault) -> Tree.Entry? {
    guard let (found, depth) = try tree.find(row.name, in: node, patience) else { return nil }
    return tree.entry(found, depth, row.name, in: node)
  }

  private func seek(_ state: inout State, _ cookie: UInt64) throws(Fault) {
    if state.cookie == cookie { return }
    // Back to the block that holds the row, then on within it.
    let block = state.blocks.last { $0.cookie <= cookie } ?? (0, 0)
    state.rows = []
    state.next = 0
    state.cookie = block.cookie
    state.place = block.place
    while state.cookie < cookie, let row = try next(&state, .blocking) {
      state.next += 1
      state.cookie = row.cookie
    }
  }

  private func next(_ state: inout State, _ patience: Patience) throws(Fault) -> Row? {
    while state.next >= state.rows.count {
      let start = state.cookie
      var cookie = start
      var rows: [Row] = []
      func add(_ name: FileName, _ inode: UInt64, _ kind: Kind) {
        cookie += 1
        rows.append(Row(name: name, inode: inode, kind: kind, cookie: cookie))
      }
      let entries = try listing.entries(after: state.place, patience)
      if start == 0 {
        add(".", node.item.inode, .folder)
        add("..", node.parent?.item.inode ?? node.item.inode, .folder)
      } else if entries.isEmpty {
        return nil
      }
      for entry in entries {
        add(entry.name, entry.inode, entry.kind)
        guard entry.kind == .file else { continue }
        for view in try tree.listedViews(beside: entry.name, in: node, patience) {
          // The number that a lookup would give costs more than a listing may: any but 0 serves.
          add(view, .max, .folder)
        }
      }
      if state.blocks.last.map({ $0.cookie < start }) ?? true { state.blocks.append((start, state.place)) }
      state.rows = rows
      state.next = 0
      state.place = entries.last?.next ?? state.place
    }
    return state.rows[state.next]
  }
}
