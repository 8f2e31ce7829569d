internal import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// Changes of files and directories on another machine. All wait for requests, so that they throw `Fault.later` if
/// `blocking` is immediate.
extension Tree {
  /// Returns the item of a node, if it is on another machine and the tree can be changed.
  func distant(_ node: Node) -> (any DistantItem)? { changesElsewhere ? node.item as? any DistantItem : nil }

  /// Returns a directory on another machine in which names can be changed. Returns `nil` for a directory of this
  /// machine. Throws EROFS in a view.
  func distantFolder(_ id: UInt64, for caller: Credentials?, _ blocking: BlockingMode) throws(Fault)
    -> (node: Node, folder: any DistantItem)?
  {
    let node = try node(id, blocking)
    guard let folder = distant(node) else { return nil }
    guard node.item.kind == .folder else { throw .notFolder }
    guard folder.isChangeable else { throw .unchangeable(true) }
    try check(3, node, folder, for: caller, blocking)
    if blocking == .immediate { throw .later }
    return (node, folder)
  }

  /// Returns the kernel's entry for a new name in a directory on another machine.
  func entry(made name: FileName, in place: (node: Node, folder: any DistantItem)) throws(Fault) -> Entry {
    guard let found = try place.folder.child(named: name, .blocking) else { throw .notFound }
    return try entry(found, place.node.depth, name, in: place.node)
  }

  /// Returns an open file for a local copy.
  func open(_ staged: any StagedFile, as node: Node, accessMode: Int32) throws(Fault) -> OpenFile {
    guard let writing else { throw .unchangeable() }
    let descriptor = try staged.open(accessMode: accessMode)
    let held = OpenFileDescription(
      descriptor, accessMode: accessMode, nil, inode: node.inode, writing, staged: staged)
    // The kernel's pages may be of the file on the other machine.
    node.cachedRevision.store(0, ordering: .relaxed)
    return OpenFile(self, node, held, revision: 0, keepsCache: false, changesAttributes: false, held: held)
  }

  /// Opens a file on another machine for writing, or the local copy of one that is being written.
  func open(
    _ item: any DistantItem, _ node: Node, flags: Int32, for caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) -> OpenFile {
    guard item.kind == .file else { throw .notOpened }
    guard item.isChangeable else { throw .unchangeable() }
    let isTruncated = flags & O_TRUNC != 0
    let writes: UInt16 = flags & O_ACCMODE != O_RDONLY || isTruncated ? 2 : 0
    try check(writes | (flags & O_ACCMODE == O_WRONLY ? 0 : 4), node, item, for: caller, blocking)
    if blocking == .immediate { throw .later }
    let staged = try item.stage(truncating: isTruncated)
    let file = try open(staged, as: node, accessMode: flags & O_ACCMODE)
    if isTruncated, let held = file.held {
      try FileChanges.setSize(held.raw, 0)
      staged.noteChange()
    }
    return file
  }

  private static var ofServer: Fault {
    Fault(.system(EPERM), "owners and permissions are those of the server's machine")
  }

  func rename(
    _ name: FileName, in place: (node: Node, folder: any DistantItem), to newName: FileName, in newFolder: UInt64,
    flags: UInt32, for caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) {
    guard let writing, let newPlace = try distantFolder(newFolder, for: caller, blocking) else {
      throw Fault(.system(EXDEV))
    }
    // RENAME_NOREPLACE of <linux/fs.h>.
    let noReplacing: UInt32 = 1
    guard flags & ~noReplacing == 0 else { throw Fault(.system(EINVAL)) }
    if nodes.node(named: name, in: place.node).flatMap({ distant($0) })?.isChangeable == false {
      throw .unchangeable()
    }
    try writing.renaming { () throws(Fault) in
      try place.folder.rename(name, to: newName, in: newPlace.folder, replacing: flags & noReplacing == 0)
      nodes.move(name, in: place.node, to: newName, in: newPlace.node, isExchange: false)
    }
    guard let moved = nodes.node(named: newName, in: newPlace.node), moved.item.kind == .folder else { return }
    // A directory is before those in it.
    for node in nodes.nodes(below: moved).sorted(by: { $0.way.count < $1.way.count }) { node.followParent() }
  }

  /// Changes attributes. Of the permissions only that of the owner to execute a file is kept: programs such as rsync(1)
  /// give up if they cannot set them. Throws EPERM for another owner, and for set-ID bits.
  func change(
    _ node: Node, _ item: any DistantItem, _ changes: AttributeChanges, of file: OpenFile?, for caller: Credentials?,
    _ blocking: BlockingMode
  ) throws(Fault) -> (Attributes, lifetime: Double) {
    guard item.isChangeable else { throw .unchangeable() }
    if changes.size != nil, file == nil { try check(2, node, item, for: caller, blocking) }
    if blocking == .immediate { throw .later }
    if let bits = changes.permissions, bits & ~0o777 != 0 { throw Self.ofServer }
    if changes.owner != nil || changes.group != nil {
      let present = overrides.applied(to: node.shown(try item.attributes(blocking)))
      guard changes.owner ?? present.owner == present.owner, changes.group ?? present.group == present.group else {
        throw Self.ofServer
      }
    }
    if let bits = changes.permissions, item.kind == .file {
      let isExecutable = bits & 0o100 != 0
      // An open file may have lost its name.
      let present = try unlessDelayed { () throws(Fault) in try item.attributes(blocking) }
      if let present, (present.permissions & 0o100 != 0) != isExecutable,
        !((file?.held?.staged ?? item.staged)?.setExecutable(isExecutable) ?? false)
      {
        try item.setExecutable(isExecutable)
      }
    }
    if let size = changes.size {
      if let held = file?.held {
        try held.checkWritable()
        try FileChanges.setSize(ofOpen: held.raw, size)
        held.staged?.noteChange()
      } else {
        let opened = try open(item, node, flags: O_WRONLY | (size == 0 ? O_TRUNC : 0), for: caller, blocking)
        defer { opened.noteReleased() }
        if size != 0, let held = opened.held {
          try FileChanges.setSize(held.raw, size)
          held.staged?.noteChange()
        }
        if let staged = opened.held?.staged { try opened.send(staged) }
      }
    }
    if let time = changes.modified {
      // UTIME_NOW of <sys/stat.h>.
      let modified = time.nanoseconds == (1 << 30) - 1 ? Timestamp.now : time
      if !((file?.held?.staged ?? item.staged)?.setModified(modified) ?? false) { try item.setModified(modified) }
    }
    do throws(Fault) {
      return (overrides.applied(to: node.shown(try item.attributes(blocking))), lifetime(node))
    } catch {
      // A file that has lost its name has only the attributes of its copy.
      guard error.isAboutName, let held = file?.held ?? node.opened.held else { throw error }
      return (overrides.applied(to: Attributes(try held.status(), inode: node.inode)), 0)
    }
  }
}
