internal import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Synchronization

/// Files and directories that an earlier process had open, restored from their descriptors.
extension Tree {
  /// Restores all open files and calls `body` with each file and the kernel's handle. Blocks on the disk.
  ///
  /// - Parameter lent: returns the backing file of a backing ID of the kernel.
  public func openInherited<Object: AnyObject & Sendable>(
    lent: (Int32) -> Object?, _ body: (UInt64, OpenFile) -> Void
  ) {
    guard let writing, let ledger = writing.ledger else { return }
    var files: [UInt64: OpenFile] = [:]
    let inherited = ledger.inherited
    for (entry, record) in inherited where record.kind == .folder { openInheritedFolder(entry, record) }
    let lentIDs = Set(inherited.filter { $0.record.number != 0 }.compactMap(\.record.lent))
    for (entry, record) in inherited where record.kind == .file {
      guard record.file >= 0, record.number != 0 else {
        // The descriptor was lost, or the kernel does not have the handle.
        if record.file >= 0 { _ = Descriptor(owning: record.file) }
        // Unregisters a backing file that no other open file has.
        if record.number == 0, let id = record.lent, !lentIDs.contains(id) { _ = lent(id) }
        entry.remove()
        continue
      }
      let descriptor = Descriptor(owning: record.file)
      let status = try? descriptor.status()
      let held = OpenFileDescription(
        descriptor, accessMode: FileChanges.accessMode(of: record.file), status, inode: record.inode, writing, entry)
      held.number.store(record.number, ordering: .relaxed)
      guard let status, let file = try? openInherited(held, status, record) else { continue }
      if let id = record.lent, file.node.opened.takeOver({ lent(id) }) { file.isLent.store(true, ordering: .relaxed) }
      files[record.number] = file
      body(record.number, file)
    }
    for (entry, record) in inherited where record.kind == .lock {
      let locker = WriteState.Locker(inode: record.inode, owner: record.owner)
      guard record.file >= 0 else {
        writing.lost.withLock { _ = $0.insert(locker) }
        entry.remove()
        continue
      }
      let locks = writing.ownerLocks(locker)
      locks.add(LockDescriptor(Descriptor(owning: record.file), entry))
      if let file = files[record.number]?.held { locks.pass(to: file, locker) }
    }
  }

  private func openInherited(
    _ held: OpenFileDescription, _ status: FileStatus, _ record: OpenLedger.Record
  ) throws(Fault) -> OpenFile {
    file(held, as: try inheritedNode(status, record), status)
  }

  /// Restores a removed directory.
  private func openInheritedFolder(_ entry: OpenLedger.Entry, _ record: OpenLedger.Record) {
    guard record.file >= 0 else { return entry.remove() }
    let descriptor = Descriptor(owning: record.file)
    guard (try? node(record.node, .blocking)) == nil, case .inherited(let known) = nodes.known(record.node),
      known.generation == record.generation, let status = try? descriptor.status(), status.type == S_IFDIR
    else { return entry.remove() }
    let parent = (try? node(UInt64(known.parent), .blocking)) ?? nodes.root
    guard let folder = parent.item as? RealFolder else { return entry.remove() }
    let path = RealPath(folder.path, known.name, status)
    path.remove(RemovedFolder(descriptor, entry))
    let item = RealFolder(path, inode: folder.path.root.inode(status))
    let attributes = Attributes(status, inode: item.inode)
    _ = try? nodes.adopt(record.node, generation: record.generation, in: parent, item, attributes)
  }

  /// Returns the node of an open file. Looks it up by name first. Otherwise, the node represents the descriptor's file.
  private func inheritedNode(_ status: FileStatus, _ record: OpenLedger.Record) throws(Fault) -> Node {
    if let found = try? node(record.node, .blocking), found.generation == record.generation { return found }
    guard case .inherited(let known) = nodes.known(record.node), known.generation == record.generation else {
      throw .stale
    }
    let parent = (try? node(UInt64(known.parent), .blocking)) ?? nodes.root
    guard let folder = (parent.item as? RealFolder) ?? (nodes.root.item as? RealFolder) else { throw .stale }
    let owner = parent.item is RealFolder ? parent : nodes.root
    let file = RealFile(folder, known.name, status)
    let attributes = Attributes(status, inode: file.inode)
    return try nodes.adopt(record.node, generation: record.generation, in: owner, file, attributes)
  }
}
