public import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// What changes of real files have in common.
extension Tree {
  /// Whether real files and folders can be changed.
  public var isWritable: Bool { writing != nil }

  /// Calls `body`, again if what it does not find may just be renamed.
  public func steady<Value>(_ patience: Patience, _ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    guard let writing else { return try body() }
    return try writing.steady(patience, body)
  }

  /// Whom what is made for `asker` belongs to; nil if this process's own user.
  func author(_ asker: Asker?) throws(Fault) -> Author? {
    guard let asker else { return nil }
    let author = Author(user: asker.user, group: asker.group)
    if author.isOneself { return nil }
    guard Author.canStandForOthers else {
      throw Fault(.system(EPERM), "only a mount of root's can make files that belong to others")
    }
    return author
  }

  /// A node that is a real folder.
  func realFolder(_ id: UInt64) throws(Fault) -> (Node, RealFolder) {
    let node = try node(id, .blocking)
    guard writing != nil, let folder = node.item as? RealFolder else { throw .unchangeable(node.item.kind == .folder) }
    return (node, folder)
  }

  /// Calls `body` with a descriptor of a real file or folder, which may be O_PATH. Prefers that of `file`; what has lost
  /// its name is reached as long as it is open.
  func withReal<Value>(
    _ node: Node, _ file: OpenFile? = nil, _ body: (Int32) throws(Fault) -> Value
  ) throws(Fault) -> Value {
    guard writing != nil else { throw .unchangeable() }
    if let held = file?.held { return try held.withDescriptor(body) }
    if let folder = node.item as? RealFolder { return try folder.place.withDescriptor(body) }
    guard let file = node.item as? RealFile else { throw .unchangeable() }
    let descriptor: Descriptor
    do throws(Fault) {
      descriptor = try byName(node, file) { (file) throws(Fault) in try file.openPlace() }
    } catch {
      guard error.isAboutName, let held = node.opened.held else { throw error }
      return try held.withDescriptor(body)
    }
    return try body(descriptor.raw)
  }

  /// What the kernel is told of a name that was just made.
  func entry(made name: FileName, in folder: Node, _ real: RealFolder) throws(Fault) -> Entry {
    guard let found = try real.child(named: name, .immediate) else { throw .notFound }
    return try entry(found, folder.depth, name, in: folder)
  }
}

extension Fault {
  /// The refusal to change what is no real file.
  static func unchangeable(_ isFolder: Bool = false) -> Fault {
    Fault(.system(EROFS), isFolder ? "nothing can be made in a view" : "only real files can be changed")
  }
}

extension RealFile {
  /// An O_PATH descriptor of this very file.
  func openPlace() throws(Fault) -> Descriptor {
    try opened { (folder) throws(Fault) in try Descriptor.open(below: folder, path: name, for: .place) }
  }

  /// Opens this very file with the flags of open(2).
  func open(flags: Int32) throws(Fault) -> Descriptor {
    try opened { (folder) throws(Fault) in try FolderChanges.open(name, in: folder, flags: flags) }
  }
}

extension RealFolder {
  /// Calls `body` with the folder's descriptor; once more with fewer open ones if there are too many.
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
