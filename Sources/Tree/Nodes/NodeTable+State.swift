internal import Bytes
internal import Glibc

extension NodeTable.State {
  static func hash(_ name: FileName, in parent: UInt32) -> UInt32 {
    UInt32(truncatingIfNeeded: NameTable.hash(parent, name.bytes))
  }

  func find(_ parent: Node, _ name: FileName, _ hash: UInt32) -> UInt32? {
    let first = names.find(Int(hash)) { id in
      guard slots[Int(id)].nameHash == hash else { return false }
      guard let node = slots[Int(id)].node else { return ledger?.isPlaced(id, parent.id, name) ?? false }
      return node.parent === parent && node.name == name
    }
    if first != nil || furtherNames.isEmpty { return first }
    return furtherNames[Node.Name(folder: parent, name: name)]
  }

  func find(_ name: FileName, in folder: Node) -> UInt32? {
    find(folder, name, Self.hash(name, in: folder.id))
  }

  func known(_ id: UInt32) -> NodeTable.Known {
    if let node = slots[Int(id)].node { return .present(node) }
    return ledger?[id].map { .inherited($0) } ?? .unknown
  }

  /// Returns the identity of a node, even if it is inherited and has not been looked up.
  func identity(of id: UInt32) -> ItemIdentity? { slots[Int(id)].node?.identity ?? ledger?[id]?.identity }

  /// Returns the node of a real file found under any name.
  func find(file found: LookupResult, _ identity: ItemIdentity) -> UInt32? {
    guard identity.mayHaveNames else { return nil }
    let hash = Self.fileHash(identity.inode)
    return files.find(Int(hash)) { id in
      guard slots[Int(id)].fileHash == hash, let known = self.identity(of: id), known.kind == identity.kind,
        known.inode == identity.inode
      else { return false }
      // An inode number is soon reused by another file.
      let isKnown = known.created != 0 && identity.created != 0
      return isKnown ? known.created == identity.created : found.attributes.links > 1
    }
  }

  private static func fileHash(_ inode: UInt64) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(inode)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  mutating func insertFile(_ id: UInt32, _ inode: UInt64) {
    if files.isFull { files = files.grown { [slots] in Int(slots[Int($0)].fileHash) } }
    slots[Int(id)].fileHash = Self.fileHash(inode)
    files.insert(id, Int(slots[Int(id)].fileHash))
  }

  private mutating func removeFile(_ id: UInt32) {
    guard let identity = identity(of: id), identity.mayHaveNames else { return }
    files.remove(id, Int(slots[Int(id)].fileHash)) { [slots] in Int(slots[Int($0)].fileHash) }
  }

  func node(named name: FileName, in folder: Node) -> Node? {
    find(name, in: folder).flatMap { slots[Int($0)].node }
  }

  /// Sets a node's first name, after the previous one was removed from `names`.
  private mutating func place(_ node: Node, _ name: FileName, in folder: Node) {
    let before = node.parent
    node.move(to: folder, name)
    slots[Int(folder.id)].children += 1
    if let before { loseChild(before.id) }
    ledger?.move(node.id, to: folder.id, name)
    insert(node.id, Self.hash(name, in: folder.id))
  }

  /// The maximum number of recorded further names of a file. Other names lead to the same node once they are looked up.
  private static var mostFurtherNames: Int { 16 }

  /// Adds a new name to a node. It becomes the first one if `isFirst` or the node has no other.
  mutating func addName(_ name: FileName, in folder: Node, of node: Node, isFirst: Bool) {
    if isFirst || slots[Int(node.id)].isNameless {
      place(node, name, in: folder)
      if slots[Int(node.id)].isNameless { ledger?.setNameless(node.id, false) }
      slots[Int(node.id)].isNameless = false
      return
    }
    let others = node.otherNames
    if others.count >= Self.mostFurtherNames { removeFurther(others[0], of: node) }
    let further = Node.Name(folder: folder, name: name)
    furtherNames[further] = node.id
    node.changeOtherNames { $0.append(further) }
    slots[Int(folder.id)].children += 1
  }

  /// Removes a name from a node. Returns whether it was the first one. The caller must then set another one.
  mutating func takeName(_ name: FileName, in folder: Node, of node: Node) -> Bool {
    guard node.parent === folder, node.name == name else {
      removeFurther(Node.Name(folder: folder, name: name), of: node)
      return false
    }
    removeFirstName(of: node.id)
    return true
  }

  /// Replaces a node's removed first name by a further one. Leaves the node nameless if it has none.
  mutating func promoteName(of node: Node) {
    guard let next = node.otherNames.last else { return leaveNameless(node) }
    place(node, next.name, in: next.folder)
    removeFurther(next, of: node)
  }

  /// Removes all names of a node.
  mutating func removeNames(of node: Node) {
    removeFirstName(of: node.id)
    for name in node.otherNames { removeFurther(name, of: node) }
  }

  /// Makes one of a node's further names its first one.
  mutating func prefer(_ name: Node.Name, of node: Node) {
    guard !slots[Int(node.id)].isNameless, furtherNames[name] == node.id, let parent = node.parent else { return }
    let first = node.name
    removeFirstName(of: node.id)
    addName(first, in: parent, of: node, isFirst: false)
    place(node, name.name, in: name.folder)
    removeFurther(name, of: node)
  }

  private mutating func removeFurther(_ name: Node.Name, of node: Node) {
    guard furtherNames[name] == node.id else { return }
    furtherNames[name] = nil
    node.changeOtherNames { $0.removeAll { $0 == name } }
    loseChild(name.folder.id)
  }

  mutating func insert(_ id: UInt32, _ hash: UInt32) {
    if names.isFull { names = names.grown { [slots] in Int(slots[Int($0)].nameHash) } }
    slots[Int(id)].nameHash = hash
    names.insert(id, Int(hash))
  }

  /// Removes an ID from `names`.
  mutating func removeFirstName(of id: UInt32) {
    names.remove(id, Int(slots[Int(id)].nameHash)) { [slots] in Int(slots[Int($0)].nameHash) }
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

  /// Keeps a node without a name while the kernel knows it.
  private mutating func leaveNameless(_ node: Node) {
    node.loseName()
    if slots[Int(node.id)].lookups == 0 { return release(node) }
    slots[Int(node.id)].isNameless = true
    ledger?.setNameless(node.id, true)
  }

  /// Removes a node without a name.
  mutating func vacate(_ node: Node) {
    vacate(node.id, in: node.parent?.id)
  }

  /// Removes the node of an ID. The ID is reused once the node has no children. The kernel forgets a directory after
  /// its entries, but several threads read these requests.
  mutating func vacate(_ id: UInt32, in parent: UInt32?) {
    removeFile(id)
    slots[Int(id)] = NodeTable.Slot(children: slots[Int(id)].children, isVacant: true)
    ledger?.remove(id)
    release(id)
    if let parent { loseChild(parent) }
  }

  mutating func loseChild(_ id: UInt32) {
    slots[Int(id)].children -= 1
    release(id)
  }

  private mutating func release(_ id: UInt32) {
    guard slots[Int(id)].isVacant, slots[Int(id)].children == 0 else { return }
    slots[Int(id)].isVacant = false
    free.append(id)
  }

  /// Throws ENFILE if no other node can be recorded.
  func checkRoom() throws(Fault) {
    guard let ledger, !ledger.hasRoom(for: free.last.map { Int($0) } ?? slots.count) else { return }
    throw Fault(.system(ENFILE), "the kernel knows more files than can be recorded")
  }

  /// Removes a node without a name that the kernel has forgotten.
  mutating func release(_ node: Node) {
    forgottenCount -= 1
    vacate(node)
  }

  /// Removes forgotten nodes without children until `wanted` are left. Returns the removed nodes.
  mutating func dropForgotten(downTo wanted: Int) -> [Node] {
    var dropped: [Node] = []
    for _ in 0..<slots.count where forgottenCount > wanted {
      if forgottenHand >= slots.count { forgottenHand = 2 }
      let slot = slots[forgottenHand]
      forgottenHand += 1
      guard slot.lookups == 0, slot.children == 0 else { continue }
      if let node = slot.node {
        removeNames(of: node)
        release(node)
        dropped.append(node)
      } else if slot.isInherited {
        forgottenCount -= 1
        vacateInherited(UInt32(forgottenHand - 1))
      }
    }
    return dropped
  }

  /// Returns the node for the item found under a new name: that of the same file under another name, or a new one. Adds
  /// a lookup. Throws ENFILE if the node cannot be recorded.
  mutating func add(
    _ parent: Node, _ name: FileName, _ found: LookupResult, _ identity: ItemIdentity, depth: Int, _ hash: UInt32
  ) throws(Fault) -> Node {
    try checkRoom()
    if let id = find(file: found, identity), let node = known(id, parent, name, found, identity) {
      addLookup(of: node)
      return node
    }
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
    if identity.mayHaveNames { insertFile(id, identity.inode) }
    count += 1
    if !identity.isImmutable { changingCount += 1 }
    return node
  }

  /// Returns a real file's node with one more name. Returns `nil` for an inherited node without a name.
  private mutating func known(
    _ id: UInt32, _ parent: Node, _ name: FileName, _ found: LookupResult, _ identity: ItemIdentity
  ) -> Node? {
    if let node = slots[Int(id)].node {
      addName(name, in: parent, of: node, isFirst: false)
      return node
    }
    guard let record = ledger?[id], !record.isNameless else { return nil }
    moveInherited(id, record, to: parent, name)
    return adopt(id, parent, found, identity, depth: 0)
  }
}
