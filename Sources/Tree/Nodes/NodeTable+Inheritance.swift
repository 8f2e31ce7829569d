internal import Bytes

/// Nodes that an earlier process gave to the kernel.
extension NodeTable.State {
  /// Adopts the nodes of `ledger`. Each is looked up when it is first used. O(n) in the IDs ever used. Nodes that the
  /// kernel has forgotten are retained only if `keepingForgotten`.
  mutating func inherit(keepingForgotten: Bool) {
    guard let ledger else { return }
    let end = Int(max(2, ledger.end))
    slots += Array(repeating: NodeTable.Slot(), count: end - slots.count)
    names = NameTable(expecting: end)
    for id in UInt32(2)..<UInt32(end) {
      guard let record = ledger[id] else { continue }
      if record.lookups == 0, !keepingForgotten {
        ledger.remove(id)
        continue
      }
      slots[Int(id)].lookups = record.lookups
      slots[Int(id)].isInherited = true
      slots[Int(id)].isNameless = record.isNameless
      slots[Int(record.parent)].children += 1
      if record.lookups > 0 { count += 1 } else { forgottenCount += 1 }
      if !record.isNameless { insert(id, Self.hash(record.name, in: record.parent)) }
      if record.identity.mayHaveNames { insertFile(id, record.inode) }
    }
    for id in UInt32(2)..<UInt32(end) where !slots[Int(id)].isInherited {
      if slots[Int(id)].children > 0 { slots[Int(id)].isVacant = true } else { free.append(id) }
    }
  }

  /// Returns the node of an inherited ID, if the item found under its name is the same. Does not add a lookup.
  mutating func adopt(
    _ id: UInt32, _ parent: Node, _ found: LookupResult, _ identity: ItemIdentity, depth: Int
  ) -> Node? {
    guard slots[Int(id)].isInherited, let record = ledger?[id], record.stands(for: found, identity) else { return nil }
    return adopt(id, record, parent, found, identity, depth: depth)
  }

  private mutating func adopt(
    _ id: UInt32, _ record: PersistentNodeTable.Record, _ parent: Node, _ found: LookupResult, _ identity: ItemIdentity,
    depth: Int
  ) -> Node {
    let node = Node(
      id: id, generation: record.generation, parent: parent, name: record.name, item: found.item, depth: depth,
      face: found.face, inode: record.inode, identity: identity)
    node.told.noteInherited()
    // The kernel may have received an estimate.
    if record.content != nil, identity.kind == .file { node.toldSize.noteEstimate() }
    slots[Int(id)].node = node
    slots[Int(id)].isChanging = !identity.isImmutable
    slots[Int(id)].isInherited = false
    if !identity.isImmutable, record.lookups > 0 { changingCount += 1 }
    return node
  }

  /// Records that another item has taken the name of an inherited node, which can no longer be found.
  mutating func loseName(_ id: UInt32) {
    guard let record = ledger?[id] else { return }
    removeFirstName(of: id)
    if record.lookups == 0 {
      forgottenCount -= 1
      return vacate(id, in: record.parent)
    }
    slots[Int(id)].isNameless = true
    ledger?.setNameless(id, true)
  }

  /// Returns the inherited node of a name. Returns `nil` if there is none or it was already looked up.
  func inherited(_ name: FileName, in folder: Node) -> UInt32? {
    guard ledger != nil, let id = find(name, in: folder), slots[Int(id)].isInherited
    else { return nil }
    return id
  }

  /// Records the removal of a name that may belong to an inherited node.
  mutating func loseInherited(_ name: FileName, in folder: Node) {
    if let id = inherited(name, in: folder) { loseName(id) }
  }

  /// Records that an inherited node was renamed.
  mutating func moveInherited(_ id: UInt32, to parent: Node, _ name: FileName) {
    guard let record = ledger?[id] else { return }
    if record.isNameless {
      slots[Int(id)].isNameless = false
      ledger?.setNameless(id, false)
      return moveNameless(id, record, to: parent, name)
    }
    moveInherited(id, record, to: parent, name)
  }

  private mutating func moveNameless(
    _ id: UInt32, _ record: PersistentNodeTable.Record, to parent: Node, _ name: FileName
  ) {
    setParent(of: id, record, to: parent, name)
    insert(id, Self.hash(name, in: parent.id))
  }

  private mutating func setParent(
    of id: UInt32, _ record: PersistentNodeTable.Record, to parent: Node, _ name: FileName
  ) {
    ledger?.move(id, to: parent.id, name)
    slots[Int(parent.id)].children += 1
    loseChild(record.parent)
  }

  /// Returns the node of an open file or directory of the source, even if it is not found by name.
  mutating func adoptOpen(_ id: UInt32, in parent: Node, _ item: any Item, _ attributes: Attributes) -> Node? {
    let identity = ItemIdentity(item)
    guard slots[Int(id)].isInherited, let record = ledger?[id], record.content == nil, record.lookups > 0,
      identity.isReal(record.inode, created: record.identity.created)
    else { return nil }
    if record.parent != parent.id {
      // Its directory is no longer found, but only the open file needs the node.
      if !record.isNameless { loseName(id) }
      setParent(of: id, record, to: parent, record.name)
    }
    let nameless = slots[Int(id)].isNameless ? (item as? RealFile)?.nameless : nil
    return adopt(id, record, parent, LookupResult(nameless ?? item, attributes), identity, depth: 0)
  }

  /// Records that the file of an inherited node was found under another name.
  mutating func moveInherited(_ id: UInt32, _ record: PersistentNodeTable.Record, to parent: Node, _ name: FileName) {
    removeFirstName(of: id)
    moveNameless(id, record, to: parent, name)
  }

  /// Removes an inherited node that the kernel forgot before it was looked up.
  mutating func vacateInherited(_ id: UInt32) {
    guard let record = ledger?[id] else { return }
    if !record.isNameless { removeFirstName(of: id) }
    vacate(id, in: record.parent)
  }
}
