public import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// Operations common to all changes of real files.
extension Tree {
  /// Whether real files and directories can be changed.
  public var isWritable: Bool { writing != nil }

  /// Calls `body`. Retries if a name was not found that a concurrent rename may be moving.
  public func steady<Value>(_ blocking: BlockingMode, _ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    guard let writing else { return try body() }
    return try writing.steady(blocking, body)
  }

  /// Returns the owner of items created for `caller`. Returns `nil` for this process's own user. Throws EPERM if this
  /// process cannot create files for other users.
  func author(_ caller: Credentials?) throws(Fault) -> FileOwner? {
    guard let caller else { return nil }
    let author = FileOwner(user: caller.user, group: caller.group)
    if author.isOneself { return nil }
    guard FileOwner.canStandForOthers else {
      throw Fault(.system(EPERM), "only a mount by root can create files of other users")
    }
    return author
  }

  /// Returns the node and item of a real directory. Throws EROFS if it cannot be changed.
  func realFolder(_ id: UInt64) throws(Fault) -> (Node, RealFolder) {
    let node = try node(id, .blocking)
    guard writing != nil, let folder = node.item as? RealFolder else { throw .unchangeable(node.item.kind == .folder) }
    return (node, folder)
  }

  /// Calls `body` with a descriptor of a real file or directory, which may be O_PATH. Prefers the descriptor of `file`,
  /// and then that of another open file of the node. An item without a name is reachable while it is open.
  func withReal<Value>(
    _ node: Node, _ file: OpenFile? = nil, _ body: (Int32) throws(Fault) -> Value
  ) throws(Fault) -> Value {
    guard writing != nil else { throw .unchangeable() }
    if let held = file?.held ?? node.opened.held { return try held.withDescriptor(body) }
    if let folder = node.item as? RealFolder { return try folder.place.withDescriptor(body) }
    guard let file = node.item as? RealFile else { throw .unchangeable() }
    let descriptor = try byName(node, file) { (file) throws(Fault) in try file.openPlace() }
    return try body(descriptor.raw)
  }

  /// Returns the kernel's entry for a new name.
  func entry(made name: FileName, in folder: Node, _ real: RealFolder) throws(Fault) -> Entry {
    guard let found = try real.child(named: name, .immediate) else { throw .notFound }
    return try entry(found, folder.depth, name, in: folder)
  }
}

extension Fault {
  /// Returns EROFS, the error for changes to an item that is not real.
  static func unchangeable(_ isFolder: Bool = false) -> Fault {
    Fault(.system(EROFS), isFolder ? "nothing can be created in a view" : "only real files can be changed")
  }

  /// EPERM, the error for an item that cannot be created on another machine.
  static var onlyHere: Fault { Fault(.system(EPERM), "only files and folders can be created on the server") }
}

extension RealFile {
  /// Opens an O_PATH descriptor. Throws ESTALE if the name belongs to another file.
  func openPlace() throws(Fault) -> Descriptor {
    try opened { (folder) throws(Fault) in try Descriptor.open(below: folder, path: name, for: .place) }
  }

  /// Opens the file with the flags of open(2). Throws ESTALE if the name belongs to another file.
  func open(flags: Int32) throws(Fault) -> Descriptor {
    try opened { (folder) throws(Fault) in try FolderChanges.open(name, in: folder, flags: flags) }
  }
}

extension RealFolder {
  /// Calls `body` with the directory's descriptor. If too many descriptors are open, closes idle ones and retries once.
  func opened(_ body: (Int32) throws(Fault) -> Descriptor) throws(Fault) -> Descriptor {
    var opened: Descriptor?
    do throws(Fault) {
      try place.withDescriptor { (place) throws(Fault) in opened = try body(place) }
    } catch {
      guard error.kind == .system(EMFILE), path.root.pool.closeIdle() else { throw error }
      try place.withDescriptor { (place) throws(Fault) in opened = try body(place) }
    }
    guard let result = opened.take() else { throw .stale }
    return result
  }
}
