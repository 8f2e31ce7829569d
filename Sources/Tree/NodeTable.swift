internal import Bytes
internal import Synchronization

/// The nodes that the kernel has references to.
///
/// The kernel counts its lookups and returns them with FORGET; a node lives while its count is above zero. Everything
/// is under one lock, which is never held while an item's methods are called.
final class NodeTable: Sendable {
  fileprivate struct Slot {
    var node: Node?
    var lookups: UInt64 = 0
    /// The number of child nodes.
    var children = 0

    /// Whether the kernel may be asked to forget the node. Real folders stay, as do nodes with children: one may be a
    /// process's working directory.
    var isEvictable: Bool {
      guard let node else { return false }
      return node.item.kind != .folder || (node.item.isImmutable && children == 0)
    }
  }

  fileprivate struct State {
    /// By node id; 0 is never used, 1 is the root.
    var slots: [Slot]
    var free: [UInt32] = []
    var names = NameTable(expecting: 0)
    var generation: UInt64 = 1
    var count = 1
    /// How many of those can change; the others are cheaper and more useful to keep.
    var changingCount = 1
    /// The next slot to consider for eviction.
    var hand = 2
  }

  private let state: Mutex<State>
  let root: Node
  /// How many times as many nodes are kept if they cannot change: those are cheaper and more useful to keep.
  private static let unchangingFactor = 3

  init(root item: any Item) {
    root = Node(id: 1, generation: 0, parent: nil, name: "", item: item, depth: 0, face: .none)
    state = Mutex(State(slots: [Slot(), Slot(node: root, lookups: 1)]))
  }

  var count: Int { state.withLock { $0.count } }

  func node(_ id: UInt64) throws(Fault) -> Node {
    let node = state.withLock { state in id < UInt64(state.slots.count) ? state.slots[Int(id)].node : nil }
    guard let node else { throw .stale }
    return node
  }

  /// The node for what was found under a name, one lookup added: the present one if it stands for the same, else a new
  /// one. `isRenewed` is whether its item was of an earlier state.
  func lookUp(_ parent: Node, _ name: FileName, _ found: Found, depth: Int) -> (node: Node, isRenewed: Bool) {
    let hash = NameTable.hash(parent.id, name.bytes)
    var before: (any Item)?
    let node = state.withLock { state in
      if let id = state.find(parent, name, hash), let node = state.slots[Int(id)].node {
        if node.stands(for: found) {
          state.slots[Int(id)].lookups += 1
          before = node.take(found)
          return node
        }
        // Another file has taken the name: the old node stays, without a name, until the kernel forgets it.
        state.removeName(node)
      }
      return state.add(parent, name, found, depth: depth, hash)
    }
    return (node, before != nil)
  }

  /// All nodes in a folder, at any depth. O(n) in the number of all nodes.
  func nodes(below folder: Node) -> [Node] {
    state.withLock { $0.slots.compactMap(\.node) }.filter { $0.isBelow(folder) }
  }

  func forget(_ id: UInt64, _ count: UInt64) {
    // Released outside the lock.
    var released: Node?
    state.withLock { state in
      guard id > 1, id < UInt64(state.slots.count), let node = state.slots[Int(id)].node else { return }
      let lookups = state.slots[Int(id)].lookups
      guard lookups <= count else {
        state.slots[Int(id)].lookups = lookups - count
        return
      }
      released = node
      state.removeName(node)
      if let parent = node.parent { state.slots[Int(parent.id)].children -= 1 }
      state.slots[Int(id)] = Slot()
      state.free.append(node.id)
      state.count -= 1
      if !node.item.isImmutable { state.changingCount -= 1 }
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
          !(onlyChanging && node.item.isImmutable)
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
}

extension NodeTable.State {
  fileprivate func find(_ parent: Node, _ name: FileName, _ hash: Int) -> UInt32? {
    names.find(hash) { id in
      guard let node = slots[Int(id)].node else { return false }
      return node.parent === parent && node.name == name
    }
  }

  private static func hash(_ id: UInt32, _ slots: [NodeTable.Slot]) -> Int {
    guard let node = slots[Int(id)].node, let parent = node.parent else { return 0 }
    return NameTable.hash(parent.id, node.name.bytes)
  }

  fileprivate mutating func removeName(_ node: Node) {
    guard let parent = node.parent else { return }
    names.remove(node.id, NameTable.hash(parent.id, node.name.bytes)) { [slots] in Self.hash($0, slots) }
  }

  fileprivate mutating func add(
    _ parent: Node, _ name: FileName, _ found: Found, depth: Int, _ hash: Int
  ) -> Node {
    let id: UInt32
    if let reused = free.popLast() {
      id = reused
    } else {
      id = UInt32(slots.count)
      slots.append(NodeTable.Slot())
    }
    generation += 1
    let node = Node(
      id: id, generation: generation, parent: parent, name: name, item: found.item, depth: depth, face: found.face)
    slots[Int(id)] = NodeTable.Slot(node: node, lookups: 1)
    slots[Int(parent.id)].children += 1
    if names.isFull { names = names.grown { [slots] in Self.hash($0, slots) } }
    names.insert(id, hash)
    count += 1
    if !found.item.isImmutable { changingCount += 1 }
    return node
  }
}
