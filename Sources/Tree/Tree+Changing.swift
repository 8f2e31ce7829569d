public import Bytes
public import Files
internal import Glibc
internal import Synchronization

/// Attribute changes of real files and directories. The kernel has already checked that they are permitted.
extension Tree {
  /// Attributes to change. `nil` leaves an attribute unchanged.
  public struct AttributeChanges: Sendable {
    public var permissions: UInt16?
    public var owner: UInt32?
    public var group: UInt32?
    /// The size, in bytes.
    public var size: Int64?
    /// The access time. May be UTIME_NOW.
    public var accessed: Timestamp?
    public var modified: Timestamp?
    /// Whether set-ID bits are cleared, as by chown(2) without an owner and a group.
    public var clearsSetIDs = false

    public init() {}
  }

  /// Changes attributes. Uses the descriptor of `file` if it is open. Returns the new attributes and how long the
  /// kernel may cache them, in seconds.
  public func change(
    _ id: UInt64, _ changes: AttributeChanges, of file: OpenFile?, for caller: Credentials?,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> (Attributes, lifetime: Double) {
    let node = try node(id, .blocking)
    if let item = distant(node) { return try change(node, item, changes, of: file, for: caller, blocking) }
    if file == nil, node.opened.count == 0 { try followFolders(above: id, for: caller) }
    if changes.size != nil, file == nil { try check(2, node, node.item, for: caller, .blocking) }
    let author = caller.map { FileOwner(user: $0.user, group: $0.group) }
    let attributes = try withReal(node, file) { (descriptor) throws(Fault) in
      if changes.owner != nil || changes.group != nil {
        try FileChanges.setOwner(descriptor, changes.owner, changes.group)
      }
      if changes.clearsSetIDs { try clearSetIDs(descriptor, of: node, for: caller) }
      if let permissions = changes.permissions { try FileChanges.setPermissions(descriptor, permissions) }
      if let size = changes.size {
        try changed(by: author) { () throws(Fault) in
          guard let held = file?.held else { return try FileChanges.setSize(descriptor, size) }
          try held.checkWritable()
          try FileChanges.setSize(ofOpen: held.raw, size)
        }
      }
      if changes.accessed != nil || changes.modified != nil {
        let kept = Timestamp(seconds: 0, nanoseconds: Self.omitted)
        try FileChanges.setTimes(
          descriptor, accessed: changes.accessed ?? kept, modified: changes.modified ?? kept)
      }
      return Attributes(try FileStatus(of: descriptor), inode: node.inode)
    }
    return (overrides.applied(to: attributes), lifetime(of: attributes, node))
  }

  /// Calls chown(2) without an owner and a group. This clears the set-ID bits of a file. Throws EPERM if it has some and
  /// `caller` does not own it, which the kernel has not checked.
  ///
  /// The kernel sends the same request before another user's write, which clears the bits in the source. While the node
  /// is open for writing, the request of another user therefore succeeds without a change.
  private func clearSetIDs(_ file: Int32, of node: Node, for caller: Credentials?) throws(Fault) {
    guard let caller, caller.user != 0 else { return try FileChanges.setOwner(file, nil, nil) }
    let status = try FileStatus(of: file).raw
    var cleared = status.st_mode & S_ISUID
    // Members of the group keep its bit where the group has no permission to execute.
    if status.st_mode & S_IXGRP != 0 || !caller.isMember(of: status.st_gid) { cleared |= status.st_mode & S_ISGID }
    guard status.st_mode & S_IFMT != S_IFDIR, cleared != 0 else { return try FileChanges.setOwner(file, nil, nil) }
    guard status.st_uid == caller.user else {
      if node.opened.isOpenForWriting { return }
      throw Fault(.system(EPERM))
    }
    try FileChanges.setPermissions(file, UInt16(status.st_mode & 0o7777 & ~cleared))
  }

  /// UTIME_OMIT of <sys/stat.h>.
  private static let omitted: Int32 = (1 << 30) - 2

  /// Sets an extended attribute with the flags of setxattr(2). Removes it if `value` is `nil`.
  public func setExtendedAttribute(
    _ name: FileName, to value: [UInt8]?, of id: UInt64, flags: Int32, for caller: Credentials?,
    _ record: ChangeRecord? = nil
  ) throws(Fault) {
    let node = try node(id, .blocking)
    if distant(node) != nil { throw .notSupported }
    if node.opened.count == 0 { try followFolders(above: id, for: caller) }
    let isList = name == AccessList.attribute || name == AccessList.defaultAttribute
    // Attributes that are not shown cannot be set, and those with this prefix belong to views.
    if name == Self.label || isList && !isShared { throw .notSupported }
    if node.item.content == nil, name.text.hasPrefix(Self.prefix) { throw .notSupported }
    if name.bytes.starts(with: "user.".utf8) { try check(2, node, node.item, for: caller, .blocking) }
    let hasBegun = record?.inherited != nil
    record?.begin()
    try withReal(node) { (descriptor) throws(Fault) in
      try changed(by: caller.map { FileOwner(user: $0.user, group: $0.group) }) { () throws(Fault) in
        do throws(Fault) {
          guard let value else { return try FileChanges.removeAttribute(descriptor, name) }
          try FileChanges.setAttribute(descriptor, name, value, flags: flags)
        } catch {
          // An earlier process has already made the change.
          guard hasBegun, [.system(ENODATA), .system(EEXIST)].contains(error.kind) else { throw error }
        }
      }
    }
  }

  func changed<Value>(by author: FileOwner?, _ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    guard let author else { return try body() }
    return try author.change(body)
  }
}
