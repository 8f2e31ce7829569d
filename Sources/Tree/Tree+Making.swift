public import Bytes
public import Files
internal import Glibc
internal import Synchronization
internal import Threads

/// Creation and removal of real files and directories.
///
/// `caller` becomes the owner, or this process's user if it is `nil`. `umask` is the caller's; a default access list of
/// the directory overrides it. Creating functions add one lookup to the new node. All functions block on the disk and
/// throw EROFS in a view.
extension Tree {
  /// The credentials and umask of the caller that creates an item.
  public struct CreationContext: Sendable {
    public let caller: Credentials?
    public let umask: UInt16
    /// The record of the request. `nil` if no other process continues after this one.
    let record: ChangeRecord?

    public init(caller: Credentials?, umask: UInt16, _ record: ChangeRecord? = nil) {
      self.record = record
      self.caller = caller
      self.umask = umask
    }
  }

  /// Creates a file and opens it, with the flags of open(2). Throws ESTALE if the file already exists and `flags` do
  /// not include O_EXCL. The kernel, which does not know the file, then repeats the lookup and checks permissions.
  public func create(
    _ name: FileName, in folder: UInt64, flags: Int32, permissions: UInt16, by maker: CreationContext,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> (Entry, OpenFile) {
    if let place = try distantFolder(folder, for: maker.caller, blocking) {
      let staged: any StagedFile
      let isExecutable = permissions & ~maker.umask & 0o100 != 0
      do throws(Fault) {
        staged = try place.folder.makeFile(name, isExclusive: flags & O_EXCL != 0, isExecutable: isExecutable)
      } catch {
        throw error.kind == .system(EEXIST) && flags & O_EXCL == 0 ? .stale : error
      }
      let entry = try entry(made: name, in: place)
      return (entry, try open(staged, as: nodes.node(entry.node), accessMode: flags & O_ACCMODE))
    }
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: maker.caller)
    let author = try author(maker.caller)
    let permissions = try masked(permissions, maker, real)
    let wanted = flags & (O_ACCMODE | O_SYNC) | O_CREAT | O_EXCL
    var made: Descriptor?
    do throws(Fault) {
      let isMade = try once(maker.record, making: name, in: real, by: author, Likeness(type: S_IFREG, size: 0)) {
        () throws(Fault) in
        made = try self.made(by: author) { () throws(Fault) in
          try real.opened { (place) throws(Fault) in
            try FolderChanges.open(name, in: place, flags: wanted, permissions: permissions)
          }
        }
      }
      if isMade { made = try openMade(name, in: real, flags: flags & (O_ACCMODE | O_SYNC)) }
    } catch {
      throw error.kind == .system(EEXIST) && flags & O_EXCL == 0 ? .stale : error
    }
    guard let descriptor = made.take() else { throw .stale }
    let status = try descriptor.status()
    let file = RealFile(real, name, status)
    let found = LookupResult(file, Attributes(status, inode: file.inode))
    let entry = try entry(found, node.depth, name, in: node)
    return (entry, try hold(descriptor, as: nodes.node(entry.node), status, accessMode: flags & O_ACCMODE))
  }

  /// Creates a file without a name, and opens it for reading and writing. `link` can give it a name in the directory.
  /// Throws an error that `isLackOfUnnamedFiles` if the file system does not support that.
  public func createUnnamed(in folder: UInt64, permissions: UInt16) throws(Fault) -> OpenFile {
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: nil)
    let descriptor = try real.opened { (place) throws(Fault) in
      try FolderChanges.openUnnamed(in: place, permissions: permissions)
    }
    let status = try descriptor.status()
    let own = Node(
      id: 0, generation: 0, parent: nil, name: "", item: RealFile(real, "", status), depth: node.depth, face: .none)
    return try hold(descriptor, as: own, status, accessMode: O_RDWR)
  }

  /// Gives a name to a file of `createUnnamed`. Throws EEXIST if the name exists.
  public func link(unnamed file: OpenFile, to name: FileName, in folder: UInt64) throws(Fault) {
    let (node, real) = try realFolder(folder)
    guard let held = file.held else { throw .unchangeable() }
    try real.place.withDescriptor { (place) throws(Fault) in try FolderChanges.link(held.raw, to: name, in: place) }
    do throws(Fault) { forget(try entry(made: name, in: node, real).node, 1) } catch {
      // Another process has already removed it again.
      guard error.isAboutName else { throw error }
    }
  }

  public func makeFolder(
    _ name: FileName, in folder: UInt64, permissions: UInt16, by maker: CreationContext,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> Entry {
    if let place = try distantFolder(folder, for: maker.caller, blocking) {
      try place.folder.makeFolder(name)
      return try entry(made: name, in: place)
    }
    return try make(name, in: folder, by: maker, Likeness(type: S_IFDIR)) { (real, place) throws(Fault) in
      try FolderChanges.makeFolder(name, in: place, permissions: try masked(permissions, maker, real))
    }
  }

  /// Creates a file, FIFO, socket or device, like mknod(2).
  public func makeNode(
    _ name: FileName, in folder: UInt64, mode: UInt32, device: UInt64, by maker: CreationContext,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> Entry {
    let type = mode & UInt32(S_IFMT) == 0 ? UInt32(S_IFREG) : mode & UInt32(S_IFMT)
    if let place = try distantFolder(folder, for: maker.caller, blocking) {
      guard type == UInt32(S_IFREG) else { throw .onlyHere }
      _ = try place.folder.makeFile(
        name, isExclusive: true, isExecutable: UInt16(mode & 0o777) & ~maker.umask & 0o100 != 0)
      return try entry(made: name, in: place)
    }
    return try make(name, in: folder, by: maker, Likeness(type: type, size: 0)) { (real, place) throws(Fault) in
      let permissions = try masked(UInt16(mode & 0o7777), maker, real)
      try FolderChanges.makeNode(name, in: place, mode: mode & UInt32(S_IFMT) | UInt32(permissions), device: device)
    }
  }

  /// Creates a symbolic link. Does not check the target.
  public func makeLink(
    _ name: FileName, to target: FileName, in folder: UInt64, by maker: CreationContext,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> Entry {
    if try distantFolder(folder, for: maker.caller, blocking) != nil { throw .onlyHere }
    return try make(name, in: folder, by: maker, Likeness(type: S_IFLNK, size: Int64(target.count))) {
      (_, place) throws(Fault) in
      try FolderChanges.makeLink(name, to: target, in: place)
    }
  }

  /// Adds a name to a real file.
  public func link(
    _ id: UInt64, to name: FileName, in folder: UInt64, for caller: Credentials? = nil, _ record: ChangeRecord? = nil,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> Entry {
    if try distantFolder(folder, for: caller, blocking) != nil { throw .onlyHere }
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: caller)
    let linked = try self.node(id, .blocking)
    if linked.opened.count == 0 { try followFolders(above: id, for: caller) }
    _ = try once(record, making: name, in: real, by: nil, Likeness(inode: linked.inode)) { () throws(Fault) in
      try withReal(linked) { (file) throws(Fault) in
        try real.place.withDescriptor { (place) throws(Fault) in try FolderChanges.link(file, to: name, in: place) }
      }
    }
    return try entry(made: name, in: node, real)
  }

  /// Removes a name. `isFolder` is whether it must be that of a directory. Open files and directories remain usable.
  public func remove(
    _ name: FileName, in folder: UInt64, isFolder: Bool, for caller: Credentials? = nil, _ record: ChangeRecord? = nil,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) {
    if let place = try distantFolder(folder, for: caller, blocking) {
      if nodes.node(named: name, in: place.node).flatMap({ distant($0) })?.isChangeable == false {
        throw .unchangeable()
      }
      try place.folder.remove(name, isFolder: isFolder)
      return nodes.remove(name, in: place.node)
    }
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: caller)
    let removed = isFolder ? held(name, in: node) : nil
    if let record {
      if let before = record.inherited, try before.isRemoved(real.inode(of: name)) {
        return nodes.remove(name, in: node)
      }
      // If another program has changed the name since it was looked up, the next process finds neither the state before
      // nor that after the change, and throws EIO.
      if let inode = nodes.inode(named: name, in: node) {
        record.begin(inode)
      } else {
        record.begin(try real.inode(of: name))
      }
    }
    do throws(Fault) {
      try real.place.withDescriptor { (place) throws(Fault) in
        try FolderChanges.remove(name, in: place, isFolder: isFolder)
      }
      record?.finish()
      noteRemoval(of: name, in: node)
      if let removed { removed.0.path.remove(removed.1) }
    } catch {
      // The name may be that of a view.
      guard error.isAboutName, nodes.isView(named: name, in: node) else { throw error }
      throw .unchangeable()
    }
    nodes.remove(name, in: node)
  }

  /// Renames a real file or directory, with the flags of renameat2(2). Its node and those below it keep their IDs.
  public func rename(
    _ name: FileName, in folder: UInt64, to newName: FileName, in newFolder: UInt64, flags: UInt32,
    for caller: Credentials? = nil, _ record: ChangeRecord? = nil, _ blocking: BlockingMode = .blocking
  ) throws(Fault) {
    guard let writing else { throw .unchangeable() }
    if let place = try distantFolder(folder, for: caller, blocking) {
      return try rename(name, in: place, to: newName, in: newFolder, flags: flags, for: caller, blocking)
    }
    let (node, real) = try realFolder(folder)
    let (newNode, newReal) = try realFolder(newFolder)
    for node in [node, newNode] { try checkChange(in: node, for: caller) }
    let inode = try inode(renaming: name, in: node, real)
    let inodeThere = try self.inode(renaming: newName, in: newNode, newReal)
    let isExchange = flags & Self.exchange != 0
    let removed = isExchange ? nil : held(newName, in: newNode)
    try writing.renaming { () throws(Fault) in
      let isDone = try record.map { (record) throws(Fault) in
        if let before = record.inherited {
          let (now, new) = (try real.inode(of: name), try newReal.inode(of: newName))
          let isDone = try before.isRenamed(now, new, isExchange: isExchange)
          // The process that renamed the file may have updated the table, too.
          if isDone, nodes.inode(named: newName, in: newNode) == before.first { return true }
          if isDone {
            nodes.move(name, in: node, to: newName, in: newNode, isExchange: isExchange)
            return true
          }
        }
        // If another program has changed a name since it was looked up, the next process finds neither the state before
        // nor that after the change, and throws EIO.
        record.begin(inode > 0 ? inode : try real.inode(of: name), inodeThere)
        return false
      }
      if isDone ?? false { return }
      try real.place.withDescriptor { (place) throws(Fault) in
        try newReal.place.withDescriptor { (newPlace) throws(Fault) in
          try FolderChanges.rename(name, in: place, to: newName, in: newPlace, flags: flags)
        }
      }
      record?.finish()
      if !isExchange { noteRemoval(of: name, in: node) }
      if let removed { removed.0.path.remove(removed.1) }
      nodes.move(name, in: node, to: newName, in: newNode, isExchange: isExchange)
    }
  }

  /// Records that a name of a real file or directory was removed, if a view may have the name.
  private func noteRemoval(of name: FileName, in folder: Node) {
    if !views.named(name).isEmpty { writing?.noteRemoval(of: name, in: folder.inode) }
  }

  /// Returns the inode number of a name that a rename is about to change, as the kernel has just looked it up. 0 if there
  /// is none. Throws EROFS for the name of a view. A directory stays reachable.
  private func inode(renaming name: FileName, in folder: Node, _ real: RealFolder) throws(Fault) -> UInt64 {
    switch nodes.known(name, in: folder) {
    case .present(let node):
      if node.identity.content != nil { throw .unchangeable() }
      (node.item as? RealFolder)?.hold()
      return node.inode
    case .inherited(let record):
      if record.content != nil { throw .unchangeable() }
      return record.inode
    case .unknown: return nodes.hasInherited ? try real.inode(of: name) : 0
    }
  }

  /// Returns the real directory of a name that is about to be removed, with an open descriptor. Returns `nil` if the
  /// kernel does not know it.
  private func held(_ name: FileName, in node: Node) -> (RealFolder, RemovedFolder)? {
    guard let id = nodes.id(named: name, in: node), let found = try? self.node(id, .blocking),
      let folder = found.item as? RealFolder,
      let place = try? folder.path.open(for: .place)
    else { return nil }
    let entry = writing?.ledger?.add(place.raw, found.record(of: .folder))
    return (folder, RemovedFolder(place, entry))
  }

  /// RENAME_EXCHANGE of <linux/fs.h>.
  private static let exchange: UInt32 = 2

  private func make(
    _ name: FileName, in folder: UInt64, by maker: CreationContext, _ likeness: Likeness,
    _ body: (RealFolder, Int32) throws(Fault) -> Void
  ) throws(Fault) -> Entry {
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: maker.caller)
    let author = try author(maker.caller)
    _ = try once(maker.record, making: name, in: real, by: author, likeness) { () throws(Fault) in
      try made(by: author) { () throws(Fault) in
        try real.place.withDescriptor { (place) throws(Fault) in try body(real, place) }
      }
    }
    return try entry(made: name, in: node, real)
  }

  private func made<Value: ~Copyable>(
    by author: FileOwner?, _ body: () throws(Fault) -> Value
  ) throws(Fault) -> Value {
    guard let author else { return try body() }
    return try author.create(body)
  }

  private func masked(_ permissions: UInt16, _ maker: CreationContext, _ folder: RealFolder) throws(Fault) -> UInt16 {
    // In a private mount, the kernel has already applied the umask.
    guard isShared, maker.umask & permissions != 0 else { return permissions & ~maker.umask }
    let list = try unlessDelayed { () throws(Fault) in
      try folder.extendedAttribute(AccessList.defaultAttribute, of: "")
    }
    return list == nil ? permissions & ~maker.umask : permissions
  }
}

// MARK: Requests that an earlier process may have executed

/// The attributes that identify a file as created by a request. `nil` matches any value.
private struct Likeness {
  var type: UInt32?
  var size: Int64?
  var inode: UInt64?

  func isSeen(in status: FileStatus, _ root: RealRoot) -> Bool {
    (type ?? status.type) == status.type && (size ?? status.size) == status.size
      && inode.map { $0 == root.inode(status) } ?? true
  }
}

extension Tree {
  /// Calls `body`, which creates a name, unless an earlier process has already created it for the same request. Returns
  /// whether it had.
  ///
  /// `likeness` and `author` identify the result of the request. A `nil` author matches any owner.
  private func once(
    _ record: ChangeRecord?, making name: FileName, in folder: RealFolder, by author: FileOwner?,
    _ likeness: Likeness, _ body: () throws(Fault) -> Void
  ) throws(Fault) -> Bool {
    guard let record else {
      try body()
      return false
    }
    let present = try folder.statusIfThere(of: name)
    if let before = record.inherited, let present {
      if before.isDone { return true }
      // The name was absent before, so it is either this request's or a concurrent program's.
      if before.first == 0, likeness.isSeen(in: present, folder.path.root), author?.owns(present) ?? true {
        return true
      }
    }
    record.begin(present == nil ? 0 : 1)
    try body()
    record.finish()
    return false
  }

  /// Opens a file that an earlier process created, even if its permissions forbid it.
  private func openMade(_ name: FileName, in folder: RealFolder, flags: Int32) throws(Fault) -> Descriptor {
    try folder.opened { (place) throws(Fault) in
      do throws(Fault) { return try FolderChanges.open(name, in: place, flags: flags) } catch {
        guard error.kind == .system(EACCES) else { throw error }
        let file = try Descriptor.open(below: place, path: name, for: .place)
        let permissions = UInt16(try file.status().raw.st_mode & 0o7777)
        try FileChanges.setPermissions(file.raw, permissions | 0o600)
        defer { try? FileChanges.setPermissions(file.raw, permissions) }
        return try FileChanges.open(file.raw, flags: flags)
      }
    }
  }
}

extension RealFolder {
  fileprivate func statusIfThere(of name: FileName) throws(Fault) -> FileStatus? {
    do throws(Fault) { return try status(of: name) } catch {
      if error.kind == .system(ENOENT) { return nil }
      throw error
    }
  }

  /// Returns the inode number of a name. 0 if it does not exist.
  fileprivate func inode(of name: FileName) throws(Fault) -> UInt64 {
    try statusIfThere(of: name).map { path.root.inode($0) } ?? 0
  }
}

extension ChangeRecord.Inherited {
  /// Returns whether the name was removed, given its inode. Throws EIO if that cannot be determined.
  fileprivate func isRemoved(_ now: UInt64) throws(Fault) -> Bool {
    if isDone || first != 0 && now == 0 { return true }
    // Removing a missing name fails again.
    if first == 0 || now == first { return false }
    throw Fault(.system(EIO), "the file was changed by another program")
  }

  /// Returns whether the rename was executed, given the inodes of both names. Throws EIO if that cannot be determined.
  fileprivate func isRenamed(_ now: UInt64, _ new: UInt64, isExchange: Bool) throws(Fault) -> Bool {
    if isDone { return true }
    // Renaming a missing file fails again. Renaming one name of a file to another has no effect.
    if first == 0 || first == second { return false }
    if new == first, isExchange ? now == second : now != first { return true }
    if now == first, new == second { return false }
    throw Fault(.system(EIO), "the file was changed by another program")
  }
}
