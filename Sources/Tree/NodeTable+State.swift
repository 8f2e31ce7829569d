internal import Bytes
internal import Glibc

extension NodeTable.State {
  func find(_ parent: Node, _ name: FileName, _ hash: Int) -> UInt32? {
    names.find(hash) { id in
      guard let node = slots[Int(id)].node else { return ledger?.isPlaced(id, parent.id, name) ?? false }
      return node.parent === parent && node.name == name
    }
  }

  func node(named name: FileName, in folder: Node) -> Node? {
    find(folder, name, NameTable.hash(folder.id, name.bytes)).flatMap { slots[Int($0)].node }
  }

  mutating func place(_ node: Node, _ name: FileName, in folder: Node) {
    let before = node.parent
    node.move(to: folder, name)
    slots[Int(folder.id)].children += 1
    if let before { loseChild(before.id) }
    ledger?.move(node.id, to: folder.id, name)
    insert(node.id, NameTable.hash(folder.id, name.bytes))
  }

  mutating func forgetView(_ node: Node, beside folder: Node) {
    viewsBeside?[folder.id]?.remove(node.id)
    if viewsBeside?[folder.id]?.isEmpty ?? false { viewsBeside?[folder.id] = nil }
  }

  private mutating func insert(_ id: UInt32, _ hash: Int) {
    if names.isFull { names = names.grown { [slots, ledger] in Self.hash($0, slots, ledger) } }
    names.insert(id, hash)
  }

  static func hash(_ id: UInt32, _ slots: [NodeTable.Slot], _ ledger: NodeLedger?) -> Int {
    if let node = slots[Int(id)].node, let parent = node.parent { return NameTable.hash(parent.id, node.name.bytes) }
    guard let record = ledger?[id] else { return 0 }
    return NameTable.hash(record.parent, record.name.bytes)
  }

  mutating func removeName(_ node: Node) {
    guard let parent = node.parent else { return }
    names.remove(node.id, NameTable.hash(parent.id, node.name.bytes)) { [slots, ledger] in
      Self.hash($0, slots, ledger)
    }
  }

  mutating func addLookup(of node: Node) {
    if slots[Int(node.id)].lookups == 0 {
      forgottenCount -= 1
      count += 1
      if slots[Int(node.id)].isChanging { changingCount += 1 }
    }
    setLookups(slots[Int(node.id)].lookups + 1, of: node.id)
  }

  mutating func setLookups(_ lookups: UInt64, of id: UInt32) {
    slots[Int(id)].lookups = lookups
    ledger?.setLookups(lookups, of: id)
  }

  /// Keeps a node whose name has been removed for as long as the kernel knows it.
  mutating func leaveNameless(_ node: Node) {
    (node.item as? RealFile)?.loseName()
    if slots[Int(node.id)].lookups == 0 { return release(node) }
    slots[Int(node.id)].isNameless = true
    ledger?.leaveNameless(node.id)
  }

  /// Gives up a node without a name.
  mutating func vacate(_ node: Node) {
    let parent = node.parent
    if viewsBeside != nil, let parent { forgetView(node, beside: parent) }
    vacate(node.id, in: parent?.id)
  }

  /// Gives up the node of an id, which another node gets once no node is in this one. The kernel forgets a folder after
  /// its entries, but several threads read that.
  mutating func vacate(_ id: UInt32, in parent: UInt32?) {
    slots[Int(id)] = NodeTable.Slot(children: slots[Int(id)].children, isVacant: true)
    ledger?.remove(id)
    release(id)
    if let parent { loseChild(parent) }
  }

  private mutating func loseChild(_ id: UInt32) {
    slots[Int(id)].children -= 1
    release(id)
  }

  private mutating func release(_ id: UInt32) {
    guard slots[Int(id)].isVacant, slots[Int(id)].children == 0 else { return }
    slots[Int(id)].isVacant = false
    free.append(id)
  }

  /// Throws ENFILE if another node could not be recorded.
  func checkRoom() throws(Fault) {
    guard let ledger, !ledger.hasRoom(for: free.last.map { Int($0) } ?? slots.count) else { return }
    throw Fault(.system(ENFILE), "the kernel knows more files than can be recorded")
  }

  /// Gives up a node without a name that the kernel has forgotten.
  mutating func release(_ node: Node) {
    forgottenCount -= 1
    vacate(node)
  }

  /// Drops nodes that the kernel has forgotten, those first that no other is below, until there are so many; returns them.
  mutating func dropForgotten(downTo wanted: Int) -> [Node] {
    var dropped: [Node] = []
    for _ in 0..<slots.count where forgottenCount > wanted {
      if forgottenHand >= slots.count { forgottenHand = 2 }
      let slot = slots[forgottenHand]
      forgottenHand += 1
      guard let node = slot.node, slot.lookups == 0, slot.children == 0 else { continue }
      removeName(node)
      release(node)
      dropped.append(node)
    }
    return dropped
  }

  mutating func add(
    _ parent: Node, _ name: FileName, _ found: Found, _ identity: ItemIdentity, depth: Int, _ hash: Int
  ) -> Node {
    let id: UInt32
    if let reused = free.popLast() {
      id = reused
    } else {
      id = UInt32(slots.count)
      slots.append(NodeTable.Slot())
    }
    generation = ledger?.nextGeneration() ?? (generation + 1)
    let node = Node(
      id: id, generation: generation, parent: parent, name: name, item: found.item, depth: depth, face: found.face,
      identity: identity)
    slots[Int(id)] = NodeTable.Slot(node: node, lookups: 1, isChanging: !identity.isImmutable)
    slots[Int(parent.id)].children += 1
    ledger?.add(node, in: parent.id)
    insert(id, hash)
    if viewsBeside != nil, identity.content != nil, parent.identity.content == nil {
      viewsBeside?[parent.id, default: []].insert(id)
    }
    count += 1
    if !identity.isImmutable { changingCount += 1 }
    return node
  }
}
