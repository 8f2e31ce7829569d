public import Bytes
internal import Files
internal import Glibc
internal import Synchronization
internal import Threads

/// Making and removing real files and folders.
///
/// `asker` is whom what is made belongs to, nil for this process's user; `umask` is his, which a default access list of
/// the folder replaces. All count one lookup of what is made, and block on the disk. They throw EROFS in a view.
extension Tree {
  /// Who makes something, and the permissions that he takes away.
  public struct Maker: Sendable {
    public let asker: Asker?
    public let umask: UInt16

    public init(asker: Asker?, umask: UInt16) {
      self.asker = asker
      self.umask = umask
    }
  }

  /// Makes a file and opens it, with the flags of open(2). Throws ESTALE if there is one by now that need not be new: the
  /// kernel, which has not seen it, then looks the name up again, and asks what of it is permitted.
  public func create(
    _ name: FileName, in folder: UInt64, flags: Int32, permissions: UInt16, by maker: Maker
  ) throws(Fault) -> (Entry, OpenFile) {
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: maker.asker)
    let author = try author(maker.asker)
    let permissions = try masked(permissions, maker, real)
    let wanted = flags & (O_ACCMODE | O_SYNC) | O_CREAT | O_EXCL
    var made: Descriptor?
    do throws(Fault) {
      made = try self.made(by: author) { () throws(Fault) in
        try real.opened { (place) throws(Fault) in
          try FolderChanges.open(name, in: place, flags: wanted, permissions: permissions)
        }
      }
    } catch {
      throw error.kind == .system(EEXIST) && flags & O_EXCL == 0 ? .stale : error
    }
    guard let descriptor = made.take() else { throw .stale }
    let status = try descriptor.status()
    let file = RealFile(real, name, status)
    let found = Found(file, Attributes(status, inode: file.inode))
    let entry = try entry(found, node.depth, name, in: node)
    return (entry, try hold(descriptor, as: nodes.node(entry.node), found.attributes))
  }

  public func makeFolder(
    _ name: FileName, in folder: UInt64, permissions: UInt16, by maker: Maker
  ) throws(Fault) -> Entry {
    try make(name, in: folder, by: maker) { (real, place) throws(Fault) in
      try FolderChanges.makeFolder(name, in: place, permissions: try masked(permissions, maker, real))
    }
  }

  /// Makes a file, FIFO, socket or device, as mknod(2) does.
  public func makeNode(
    _ name: FileName, in folder: UInt64, mode: UInt32, device: UInt64, by maker: Maker
  ) throws(Fault) -> Entry {
    try make(name, in: folder, by: maker) { (real, place) throws(Fault) in
      let permissions = try masked(UInt16(mode & 0o7777), maker, real)
      try FolderChanges.makeNode(name, in: place, mode: mode & UInt32(S_IFMT) | UInt32(permissions), device: device)
    }
  }

  /// Makes a symbolic link, whatever its target.
  public func makeLink(_ name: FileName, to target: FileName, in folder: UInt64, by maker: Maker) throws(Fault) -> Entry
  {
    try make(name, in: folder, by: maker) { (_, place) throws(Fault) in
      try FolderChanges.makeLink(name, to: target, in: place)
    }
  }

  /// Gives a real file another name.
  public func link(
    _ id: UInt64, to name: FileName, in folder: UInt64, for asker: Asker? = nil
  ) throws(Fault) -> Entry {
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: asker)
    let linked = try nodes.node(id)
    try withReal(linked) { (file) throws(Fault) in
      try real.place.withDescriptor { (place) throws(Fault) in try FolderChanges.link(file, to: name, in: place) }
    }
    return try entry(made: name, in: node, real)
  }

  /// Removes a name, of a folder if `isFolder`. What is open lives on.
  public func remove(
    _ name: FileName, in folder: UInt64, isFolder: Bool, for asker: Asker? = nil
  ) throws(Fault) {
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: asker)
    if isFolder { (nodes.node(named: name, in: node)?.item as? RealFolder)?.hold() }
    do throws(Fault) {
      try real.place.withDescriptor { (place) throws(Fault) in
        try FolderChanges.remove(name, in: place, isFolder: isFolder)
      }
    } catch {
      // A view of that name?
      guard error.isAboutName, nodes.node(named: name, in: node)?.item.content != nil else { throw error }
      throw .unchangeable()
    }
    nodes.remove(name, in: node)
  }

  /// Renames a real file or folder, with the flags of renameat2(2). Its node and those below it keep their numbers.
  public func rename(
    _ name: FileName, in folder: UInt64, to newName: FileName, in newFolder: UInt64, flags: UInt32,
    for asker: Asker? = nil
  ) throws(Fault) {
    guard let writing else { throw .unchangeable() }
    let (node, real) = try realFolder(folder)
    let (newNode, newReal) = try realFolder(newFolder)
    for node in [node, newNode] { try checkChange(in: node, for: asker) }
    for (name, node) in [(name, node), (newName, newNode)] {
      // The kernel has looked up both: what is a view now is none of the source's.
      guard let known = nodes.node(named: name, in: node)?.item else { continue }
      if known.content != nil { throw .unchangeable() }
      (known as? RealFolder)?.hold()
    }
    let isExchange = flags & Self.exchange != 0
    try writing.renaming { () throws(Fault) in
      try real.place.withDescriptor { (place) throws(Fault) in
        try newReal.place.withDescriptor { (newPlace) throws(Fault) in
          try FolderChanges.rename(name, in: place, to: newName, in: newPlace, flags: flags)
        }
      }
      nodes.move(name, in: node, to: newName, in: newNode, isExchange: isExchange)
    }
  }

  /// RENAME_EXCHANGE of <linux/fs.h>.
  private static let exchange: UInt32 = 2

  private func make(
    _ name: FileName, in folder: UInt64, by maker: Maker, _ body: (RealFolder, Int32) throws(Fault) -> Void
  ) throws(Fault) -> Entry {
    let (node, real) = try realFolder(folder)
    try checkChange(in: node, for: maker.asker)
    let author = try author(maker.asker)
    try made(by: author) { () throws(Fault) in
      try real.place.withDescriptor { (place) throws(Fault) in try body(real, place) }
    }
    return try entry(made: name, in: node, real)
  }

  private func made<Value: ~Copyable>(
    by author: Author?, _ body: () throws(Fault) -> Value
  ) throws(Fault) -> Value {
    guard let author else { return try body() }
    return try author.create(body)
  }

  private func masked(_ permissions: UInt16, _ maker: Maker, _ folder: RealFolder) throws(Fault) -> UInt16 {
    // In a private mount the kernel has taken them away.
    guard isShared, maker.umask & permissions != 0 else { return permissions & ~maker.umask }
    let list = try unlessDelayed { () throws(Fault) in
      try folder.extendedAttribute(AccessList.defaultAttribute, of: "")
    }
    return list == nil ? permissions & ~maker.umask : permissions
  }
}
