/// The handler of the kernel's requests. Each method is called on one of libfuse's threads, several at a time, and must
/// not block. A request may be kept and answered from another thread.
public protocol FileSystem: AnyObject, Sendable {
  /// Called once the mount answers requests.
  func started()

  /// Whether the kernel reads and enforces access control lists (`system.posix_acl_access`). This costs one more
  /// request for each node used by a user other than its owner.
  var hasAccessLists: Bool { get }

  /// Whether the kernel looks up `.` and `..` of nodes that it has forgotten, for NFS servers.
  var keepsHandles: Bool { get }
  /// Whether the file system handles the requests of `WritableFileSystem`, to which it must then conform. False by
  /// default.
  var isWritable: Bool { get }

  /// Answers LOOKUP with the node of a name in a directory.
  func lookUp(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64)
  /// Removes `count` lookups of a node. The kernel expects no reply.
  func forget(_ node: UInt64, _ count: UInt64)
  /// Answers GETATTR.
  func attributes(_ request: consuming Request, _ node: UInt64)
  /// Answers READLINK.
  func linkTarget(_ request: consuming Request, _ node: UInt64)

  /// Answers OPEN with a handle, which is released when the file is closed.
  func open(_ request: consuming Request, _ node: UInt64, flags: Int32)
  /// Opens a node that an earlier process had open for reading. Calls `body` with the result, or answers the request
  /// with an error.
  func openAgain(
    _ request: consuming Request, _ node: UInt64, isFolder: Bool,
    _ body: @escaping @Sendable (consuming Request, AnyObject) -> Void)
  /// Reopens the files that an earlier process had open, from its descriptors. Calls `body` with the kernel's handle
  /// and each file. Called before any request is answered, except requests about names that an earlier process left.
  /// May block.
  func inherit(_ body: (UInt64, AnyObject) -> Void)
  /// Records for the next process the number that the kernel is about to receive for an open file or directory. `lent`
  /// is the ID of its backing file.
  func note(_ handle: AnyObject, number: UInt64, lent: Int32?)
  /// Records that the kernel has released an open file or directory, and ends the locks that were set through it. Other
  /// threads may still use the object.
  func noteReleased(_ handle: AnyObject)
  /// Answers READ with `count` bytes at `offset`, or fewer at the end of the file.
  func read(_ request: consuming Request, _ handle: AnyObject, offset: Int64, count: Int)
  /// Answers LSEEK with the next data or hole of a file from `offset` on, as for SEEK_DATA and SEEK_HOLE of lseek(2).
  func seek(_ request: consuming Request, _ handle: AnyObject, offset: Int64, toHole: Bool)

  /// Answers OPENDIR with a handle, which is released when the directory is closed.
  func openFolder(_ request: consuming Request, _ node: UInt64)
  /// Answers READDIR, or READDIRPLUS if `wantsNodes`, with the entries after `cookie` that fit into `capacity` bytes.
  func readFolder(
    _ request: consuming Request, _ handle: AnyObject, after cookie: UInt64, capacity: Int, wantsNodes: Bool)

  /// Answers GETXATTR. A `capacity` of 0 requests only the size.
  func extendedAttribute(_ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, capacity: Int)
  /// Answers LISTXATTR. A `capacity` of 0 requests only the size.
  func extendedAttributeNames(_ request: consuming Request, _ node: UInt64, capacity: Int)
  /// Answers STATFS.
  func statistics(_ request: consuming Request)
}

extension FileSystem {
  public func inherit(_ body: (UInt64, AnyObject) -> Void) {}
  public func note(_ handle: AnyObject, number: UInt64, lent: Int32?) {}
  public func noteReleased(_ handle: AnyObject) {}
  public var isWritable: Bool { false }
}
