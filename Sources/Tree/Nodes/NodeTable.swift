internal import Bytes
internal import Locks

/// The nodes to which the kernel has references.
///
/// The kernel counts its lookups and returns them with FORGET. A node lives while its count is above zero, or longer if
/// an NFS server may have a handle of it. All state is under one lock. While it is held, new names are recorded in real
/// files and directories, and no other method of an item is called: see `ItemIdentity`.
final class NodeTable: Sendable {
  /// A node ID, and the node that has it, if any.
  struct Slot {
    var node: Node?
    var lookups: UInt64 = 0
    /// The number of child nodes.
    var children: Int32 = 0
    /// The hashes under which the ID is in `names` and `files`. Tables change without access to the nodes.
    var nameHash: UInt32 = 0
    var fileHash: UInt32 = 0

    /// Whether the node is counted among those that can change.
    var isChanging = false
    /// Whether the node's last name was removed or taken by another node.
    var isNameless = false
    /// Whether the slot has no node but still has children, which are being forgotten, too. Its ID is not reused until
    /// then.
    var isVacant = false
    /// Whether an earlier process gave the node to the kernel and this process has not looked it up.
    var isInherited = false

    /// Whether the kernel may be asked to forget the node. Real directories stay, as do directories with children,
    /// since one of these may be a working directory.
    var isEvictable: Bool {
      guard let identity = node?.identity, lookups > 0 else { return false }
      return identity.kind != .folder || (identity.isImmutable && children == 0)
    }
  }

  struct State {
    /// The slots by node ID. 0 is never used, 1 is the root.
    var slots: [Slot]
    var free: [UInt32] = []
    var names = NameTable(expecting: 0)
    /// The nodes by further names of real files. First names are in `names`.
    var furtherNames: [Node.Name: UInt32] = [:]
    /// Real files by inode number.
    var files = NameTable(expecting: 0)
    /// The last generation. The first is random, so that a node is not mistaken for one of an earlier mount with the
    /// same ID. The kernel uses 32 bits of it.
    var generation = UInt64.random(in: 1...0x3fff_ffff)
    /// The number of nodes that the kernel has not forgotten.
    var count = 1
    /// The number of these nodes that can change. The others are cheaper and more useful to keep.
    var changingCount = 1
    /// The next slot to consider for eviction.
    var hand = 2
    /// The number of kept nodes that the kernel has forgotten, and the next slot to consider for their eviction.
    var forgottenCount = 0
    var forgottenHand = 2
    /// The record of the nodes for the next process. `nil` if there will be none.
    let ledger: PersistentNodeTable?
  }

  private let state: UnfairLock<State>
  let root: Node
  /// Whether an earlier process gave nodes to the kernel. Further names of their files are unknown.
  let hasInherited: Bool
  /// The limit of all nodes, as a multiple of the limit of those that can change. The others are cheaper and more
  /// useful to keep.
  private static let unchangingFactor = 2
  /// The maximum number of kept nodes that the kernel has forgotten.
  private let forgottenAtMost: Int

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - forgottenAtMost: the maximum number of forgotten nodes that are kept for `lookUpAgain`.
  ///   - ledger: the record of the previous process's nodes, which continues for the next process.
  init(
    root item: any Item, keepingForgotten forgottenAtMost: Int = 0, ledger: PersistentNodeTable? = nil
  ) {
    self.forgottenAtMost = forgottenAtMost
    root = Node(id: 1, generation: 0, parent: nil, name: "", item: item, depth: 0, face: .none)
    if ledger != nil { root.told.noteInherited() }
    var first = State(slots: [Slot(), Slot(node: root, lookups: 1)], ledger: ledger)
    first.inherit(keepingForgotten: forgottenAtMost > 0)
    hasInherited = first.slots.count > 2
    state = UnfairLock(first)
  }

  var count: Int { state.withLock { $0.count } }

  /// Returns the node with this ID. Returns `nil` if there is none, or if it is inherited and has not been looked up
  /// yet.
  func present(_ id: UInt64) -> Node? {
    state.withLock { state in id < UInt64(state.slots.count) ? state.slots[Int(id)].node : nil }
  }

  /// Returns the node with this ID. Throws ESTALE if `present` returns `nil`.
  func node(_ id: UInt64) throws(Fault) -> Node {
    guard let node = present(id) else { throw .stale }
    return node
  }

  /// Returns the node for the item found under a name, and adds a lookup. Returns the name's node if it represents the
  /// same item, otherwise the node of the same file under another name, otherwise a new one. `isRenewed` is whether the
  /// node's item was of an earlier state. Throws ENFILE if no more nodes can be recorded for the next process.
  func lookUp(
    _ parent: Node, _ name: FileName, _ found: LookupResult, depth: Int
  ) throws(Fault) -> (node: Node, isRenewed: Bool) {
    let hash = State.hash(name, in: parent.id)
    let identity = ItemIdentity(found.item)
    var before: (any Item)?
    let node = try state.withLock { (state) throws(Fault) in
      if let id = state.find(parent, name, hash) {
        guard let node = state.slots[Int(id)].node else {
          if let node = state.adopt(id, parent, found, identity, depth: depth) {
            state.addLookup(of: node)
            return node
          }
          try state.checkRoom()
          state.loseName(id)
          return try state.add(parent, name, found, identity, depth: depth, hash)
        }
        if node.stands(for: found, identity) {
          state.addLookup(of: node)
          before = node.take(found, identity)
          return node
        }
        try state.checkRoom()
        // Another file has taken the name. The old node stays without it until the kernel forgets the node.
        if state.takeName(name, in: parent, of: node) { state.promoteName(of: node) }
      }
      return try state.add(parent, name, found, identity, depth: depth, hash)
    }
    return (node, before != nil)
  }

  /// Returns the node with this ID and adds a lookup. For NFS file handles. Throws ESTALE if the node no longer exists.
  func lookUpAgain(_ id: UInt64) throws(Fault) -> Node {
    let node = state.withLock { state -> Node? in
      guard id < UInt64(state.slots.count), let node = state.slots[Int(id)].node else { return nil }
      state.addLookup(of: node)
      return node
    }
    guard let node else { throw .stale }
    return node
  }

  /// The state of a node ID.
  enum Known {
    case present(Node)
    /// A node that an earlier process gave to the kernel and this process has not looked up.
    case inherited(PersistentNodeTable.Record)
    case unknown
  }

  /// Returns the node or the record of an ID.
  func known(_ id: UInt64) -> Known {
    state.withLock { state in id < UInt64(state.slots.count) ? state.known(UInt32(id)) : .unknown }
  }

  /// Returns the current node or the record of a name.
  func known(_ name: FileName, in folder: Node) -> Known {
    state.withLock { state in state.find(name, in: folder).map { state.known($0) } ?? .unknown }
  }

  /// Returns an inherited node, if the item found under its name is the same or it was already adopted. Throws ESTALE
  /// otherwise.
  func adopt(_ id: UInt64, in parent: Node, _ found: LookupResult, depth: Int) throws(Fault) -> Node {
    let identity = ItemIdentity(found.item)
    let node = state.withLock { state in
      state.slots[Int(id)].node ?? state.adopt(UInt32(id), parent, found, identity, depth: depth)
    }
    guard let node else { throw .stale }
    return node
  }

  /// Returns all nodes in a directory, at any depth. O(n) in the number of all nodes.
  func nodes(below folder: Node) -> [Node] {
    state.withLock { $0.slots.compactMap(\.node) }.filter { $0.isBelow(folder) }
  }

  func forget(_ id: UInt64, _ count: UInt64) {
    // Released outside the lock.
    var released: [Node] = []
    state.withLock { state in
      guard id > 1, id < UInt64(state.slots.count), state.slots[Int(id)].lookups > 0 else { return }
      let lookups = state.slots[Int(id)].lookups
      guard lookups <= count else { return state.setLookups(lookups - count, of: UInt32(id)) }
      state.count -= 1
      if state.slots[Int(id)].isChanging { state.changingCount -= 1 }
      state.setLookups(0, of: UInt32(id))
      guard forgottenAtMost > 0, !state.slots[Int(id)].isNameless else {
        guard let node = state.slots[Int(id)].node else { return state.vacateInherited(UInt32(id)) }
        if !state.slots[Int(id)].isNameless { state.removeNames(of: node) }
        state.vacate(node)
        return released.append(node)
      }
      state.forgottenCount += 1
      if state.forgottenCount > forgottenAtMost {
        released = state.dropForgotten(downTo: forgottenAtMost / 8 * 7)
      }
    }
    _ = released
  }

  /// Returns nodes for the kernel to forget, in approximate LRU order. Empty unless more than `limit` nodes can change,
  /// or `unchangingFactor` times as many exist in total.
  func surplus(over limit: Int) -> [Node] {
    state.withLock { state in
      let onlyChanging = state.changingCount > limit
      guard onlyChanging || state.count > Self.unchangingFactor * limit else { return [] }
      var wanted =
        onlyChanging ? state.changingCount - limit / 8 * 7 : state.count - (Self.unchangingFactor - 1) * limit
      var nodes: [Node] = []
      for _ in 0..<state.slots.count where wanted > 0 {
        if state.hand >= state.slots.count { state.hand = 2 }
        if let node = state.slots[state.hand].node, state.slots[state.hand].isEvictable,
          !onlyChanging || state.slots[state.hand].isChanging
        {
          nodes.append(node)
          wanted -= 1
        }
        state.hand += 1
      }
      return nodes
    }
  }

  func hasSurplus(over limit: Int) -> Bool {
    state.withLock { $0.changingCount > limit || $0.count > Self.unchangingFactor * limit }
  }

  // MARK: Changes through the mount

  /// Returns the current node of a name. Returns `nil` if the kernel has not looked it up.
  func node(named name: FileName, in folder: Node) -> Node? {
    state.withLock { $0.node(named: name, in: folder) }
  }

  /// Records that a name was removed. If it was the last one, the node remains nameless until the kernel forgets it.
  func remove(_ name: FileName, in folder: Node) {
    state.withLock { state in
      guard let node = state.node(named: name, in: folder) else { return state.loseInherited(name, in: folder) }
      if state.takeName(name, in: folder, of: node) { state.promoteName(of: node) }
    }
  }

  /// Records that a real file or directory was renamed. Its node keeps its ID under the new name. The node that had the
  /// new name gets the old name if `isExchange`. Otherwise, it loses the name.
  func move(
    _ name: FileName, in folder: Node, to newName: FileName, in newFolder: Node, isExchange: Bool
  ) {
    state.withLock { state in
      let inherited = state.inherited(name, in: folder)
      let inheritedThere = state.inherited(newName, in: newFolder)
      if inherited != nil, inherited == inheritedThere { return }
      defer {
        if let inheritedThere {
          if isExchange {
            state.moveInherited(inheritedThere, to: folder, name)
          } else {
            state.loseName(inheritedThere)
          }
        }
        if let inherited { state.moveInherited(inherited, to: newFolder, newName) }
      }
      let moved = state.node(named: name, in: folder)
      let replaced = state.node(named: newName, in: newFolder)
      // A rename between two names of one file keeps both.
      if let moved, moved === replaced { return }
      let isFirst = moved.map { state.takeName(name, in: folder, of: $0) }
      let wasFirst = replaced.map { state.takeName(newName, in: newFolder, of: $0) }
      if let moved, let isFirst { state.addName(newName, in: newFolder, of: moved, isFirst: isFirst) }
      guard let replaced, let wasFirst else { return }
      if isExchange {
        state.addName(name, in: folder, of: replaced, isFirst: wasFirst)
      } else if wasFirst {
        state.promoteName(of: replaced)
      }
    }
  }

  /// Returns the current node ID of a name. Returns `nil` if the kernel has not looked it up.
  func id(named name: FileName, in folder: Node) -> UInt64? {
    state.withLock { $0.find(name, in: folder).map { UInt64($0) } }
  }

  /// Returns whether the node of a name belongs to a view.
  func isView(named name: FileName, in folder: Node) -> Bool {
    state.withLock { state in
      state.find(name, in: folder).flatMap { state.identity(of: $0) }?.content != nil
    }
  }

  /// Returns the inode number of the real file or directory of a name. Returns `nil` if the kernel has not looked it up.
  func inode(named name: FileName, in folder: Node) -> UInt64? {
    state.withLock { state in
      let identity = state.find(name, in: folder).flatMap { state.identity(of: $0) }
      return identity.flatMap { $0.content == nil ? $0.inode : nil }
    }
  }

  /// Returns the node of an open real file or directory of an earlier process, regardless of its name. Adopts it unless
  /// this process already has it. Throws ESTALE if the kernel has forgotten it.
  func adopt(
    _ id: UInt64, generation: UInt64, in parent: Node, _ item: any Item, _ attributes: Attributes
  ) throws(Fault) -> Node {
    let node = state.withLock { state -> Node? in
      guard id < UInt64(state.slots.count) else { return nil }
      let node = state.slots[Int(id)].node ?? state.adoptOpen(UInt32(id), in: parent, item, attributes)
      return node?.generation == generation ? node : nil
    }
    guard let node else { throw .stale }
    return node
  }

  /// Makes one of a file's names its first name, after the previous first name was not found.
  func prefer(_ name: Node.Name, of node: Node) { state.withLock { $0.prefer(name, of: node) } }
}
