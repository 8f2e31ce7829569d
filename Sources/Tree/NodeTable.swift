internal import Bytes
internal import Synchronization

/// The nodes that the kernel has references to.
///
/// The kernel counts its lookups and returns them with FORGET; a node lives while its count is above zero, or some time longer
/// where an NFS server may hold on to what it knows it by. Everything is under one lock. While it is
/// held, real files are told of new names, and no other method of an item is called: see `ItemIdentity`.
final class NodeTable: Sendable {
  struct Slot {
    var node: Node?
    var lookups: UInt64 = 0
    /// The number of child nodes.
    var children = 0

    /// Whether it is counted among those that can change.
    var isChanging = false
    /// Whether another node has its name.
    var isNameless = false
    /// Whether it has no node any more, but nodes of others in it, which are being forgotten, too: until then nothing else
    /// gets its id.
    var isVacant = false
    /// Whether an earlier process has given it to the kernel, and it has not been looked for here.
    var isInherited = false

    /// Whether the kernel may be asked to forget the node. Real folders stay, as do nodes with children: one may be a
    /// process's working directory.
    var isEvictable: Bool {
      guard let identity = node?.identity, lookups > 0 else { return false }
      return identity.kind != .folder || (identity.isImmutable && children == 0)
    }
  }

  struct State {
    /// By node id; 0 is never used, 1 is the root.
    var slots: [Slot]
    var free: [UInt32] = []
    var names = NameTable(expecting: 0)
    /// The nodes of further names of real files, whose first ones are in `names`.
    var furtherNames: [Node.Name: UInt32] = [:]
    /// Real files by inode number.
    var files = NameTable(expecting: 0)
    /// Random, so that nothing stands for what an earlier mount had under the same id. The kernel takes 32 bits of it.
    var generation = UInt64.random(in: 1...0x3fff_ffff)
    /// How many nodes the kernel has not forgotten.
    var count = 1
    /// How many of those can change; the others are cheaper and more useful to keep.
    var changingCount = 1
    /// The next slot to consider for eviction.
    var hand = 2
    /// How many nodes the kernel has forgotten that are here, and the next slot to consider for their eviction.
    var forgottenCount = 0
    var forgottenHand = 2
    /// What the process after this one is told; nil if there will be none.
    let ledger: NodeLedger?
  }

  private let state: Mutex<State>
  let root: Node
  /// How many times as many nodes are kept if they cannot change: those are cheaper and more useful to keep.
  private static let unchangingFactor = 3
  /// How many nodes are kept that the kernel has forgotten.
  private let forgottenAtMost: Int

  /// - Parameters:
  ///   - forgottenAtMost: how many nodes are kept that the kernel has forgotten, for `lookUpAgain`.
  ///   - ledger: where nodes are recorded for the next process, with those of the one before.
  init(
    root item: any Item, keepingForgotten forgottenAtMost: Int = 0, ledger: NodeLedger? = nil
  ) {
    self.forgottenAtMost = forgottenAtMost
    root = Node(id: 1, generation: 0, parent: nil, name: "", item: item, depth: 0, face: .none)
    var first = State(slots: [Slot(), Slot(node: root, lookups: 1)], ledger: ledger)
    first.inherit()
    state = Mutex(first)
  }

  var count: Int { state.withLock { $0.count } }

  /// The node of an id; nil if there is none, or it is an earlier process's that nobody has asked for yet.
  func present(_ id: UInt64) -> Node? {
    state.withLock { state in id < UInt64(state.slots.count) ? state.slots[Int(id)].node : nil }
  }

  /// The same; throws ESTALE instead.
  func node(_ id: UInt64) throws(Fault) -> Node {
    guard let node = present(id) else { throw .stale }
    return node
  }

  /// The node for what was found under a name, one lookup added: that of the name if it stands for the same, else that of the
  /// same file under another name, else a new one. `isRenewed` is whether its item was of an earlier state. Throws ENFILE if no
  /// more nodes can be recorded for the next process.
  func lookUp(
    _ parent: Node, _ name: FileName, _ found: Found, depth: Int
  ) throws(Fault) -> (node: Node, isRenewed: Bool) {
    let hash = NameTable.hash(parent.id, name.bytes)
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
        // Another file has taken the name: the old node stays, without a name, until the kernel forgets it.
        if state.takeName(name, in: parent, of: node) { state.promoteName(of: node) }
      }
      return try state.add(parent, name, found, identity, depth: depth, hash)
    }
    return (node, before != nil)
  }

  /// The node of an id, one lookup added: for who knows it by that, and not by a name. Throws ESTALE when it is gone.
  func lookUpAgain(_ id: UInt64) throws(Fault) -> Node {
    let node = state.withLock { state -> Node? in
      guard id < UInt64(state.slots.count), let node = state.slots[Int(id)].node else { return nil }
      state.addLookup(of: node)
      return node
    }
    guard let node else { throw .stale }
    return node
  }

  enum Known {
    case present(Node)
    /// An earlier process has given it to the kernel, and nobody has asked this one for it.
    case inherited(NodeLedger.Record)
    case unknown
  }

  /// What is known of an id.
  func known(_ id: UInt64) -> Known {
    state.withLock { state in
      guard id < UInt64(state.slots.count) else { return .unknown }
      if let node = state.slots[Int(id)].node { return .present(node) }
      return state.ledger?[UInt32(id)].map { .inherited($0) } ?? .unknown
    }
  }

  /// The node of an earlier process, which is what was found under its name, or is here by now. Throws ESTALE if it stood
  /// for something else.
  func adopt(_ id: UInt64, in parent: Node, _ found: Found, depth: Int) throws(Fault) -> Node {
    let identity = ItemIdentity(found.item)
    let node = state.withLock { state in
      state.slots[Int(id)].node ?? state.adopt(UInt32(id), parent, found, identity, depth: depth)
    }
    guard let node else { throw .stale }
    return node
  }

  /// All nodes in a folder, at any depth. O(n) in the number of all nodes.
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
      guard let node = state.slots[Int(id)].node else { return state.vacateInherited(UInt32(id)) }
      if state.slots[Int(id)].isChanging { state.changingCount -= 1 }
      state.setLookups(0, of: UInt32(id))
      guard forgottenAtMost > 0, !state.slots[Int(id)].isNameless else {
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

  /// Nodes for the kernel to forget, in approximate LRU order; none unless more than `limit` can change, or
  /// `unchangingFactor` times as many exist in all.
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

  /// The node that a name has now; nil if the kernel has not looked it up.
  func node(named name: FileName, in folder: Node) -> Node? {
    state.withLock { $0.node(named: name, in: folder) }
  }

  /// A name has been removed: its node lives on, without one while it is open if it was the last.
  func remove(_ name: FileName, in folder: Node) {
    state.withLock { state in
      guard let node = state.node(named: name, in: folder) else { return state.loseInherited(name, in: folder) }
      if state.takeName(name, in: folder, of: node) { state.promoteName(of: node) }
    }
  }

  /// A real file or folder has been renamed: its node keeps its number, under the new name. What had that name has the old one
  /// now, if `isExchange`, or one less.
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
      // Of two names of one file both stay.
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

  /// The id that a name has now; nil if the kernel has not looked it up.
  func id(named name: FileName, in folder: Node) -> UInt64? {
    state.withLock { $0.find(name, in: folder).map { UInt64($0) } }
  }

  /// Whether the node that a name has is a view's.
  func isView(named name: FileName, in folder: Node) -> Bool {
    state.withLock { state in
      state.find(name, in: folder).flatMap { state.identity(of: $0) }?.content != nil
    }
  }

  /// Whether the node that a name has is that of a real file or folder with this inode number.
  func isFile(_ inode: UInt64, named name: FileName, in folder: Node) -> Bool {
    state.withLock { state in
      let identity = state.find(name, in: folder).flatMap { state.identity(of: $0) }
      return identity.map { $0.content == nil && $0.inode == inode } ?? false
    }
  }

  /// The node of an earlier process for a real file or folder that is open, whatever became of its name; the one of now, if there is one.
  /// Throws ESTALE if the kernel has forgotten it.
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

  /// Makes one of a file's names the one that it is looked for by first: the one before was not found.
  func prefer(_ name: Node.Name, of node: Node) { state.withLock { $0.prefer(name, of: node) } }
}
