/// The handler of the kernel's requests. Each method is called on one of libfuse's threads, several at a time, and must
/// not block; the request may be kept and answered from another thread.
public protocol FileSystem: AnyObject, Sendable {
  /// Called once the mount answers requests.
  func started()

  /// Whether the kernel reads and enforces access control lists (`system.posix_acl_access`): one more request for each
  /// node used by somebody other than its owner.
  var hasAccessLists: Bool { get }

  /// Whether the kernel looks up `.` and `..` of nodes that it has forgotten, for NFS servers.
  var keepsHandles: Bool { get }
  /// Whether it takes the requests of `WritableFileSystem`, which it then is; false by default.
  var isWritable: Bool { get }

  /// Answers LOOKUP: the node of a name in a folder.
  func lookUp(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64)
  /// The kernel has dropped `count` lookups of a node; there is no reply.
  func forget(_ node: UInt64, _ count: UInt64)
  /// Answers GETATTR.
  func attributes(_ request: consuming Request, _ node: UInt64)
  /// Answers READLINK.
  func linkTarget(_ request: consuming Request, _ node: UInt64)

  /// Answers OPEN with a handle, which is released when the file is closed.
  func open(_ request: consuming Request, _ node: UInt64, flags: Int32)
  /// Opens what an earlier process had open for reading, and calls `body` with it; or answers the request with a failure.
  func openAgain(
    _ request: consuming Request, _ node: UInt64, isFolder: Bool,
    _ body: @escaping @Sendable (consuming Request, AnyObject) -> Void)
  /// Opens again what an earlier process had open by its descriptors, and calls `body` with each and the kernel's number of
  /// it. Called before any request is answered, but for those about names that an earlier process has left. May block.
  func inherit(_ body: (UInt64, AnyObject) -> Void)
  /// Answers READ: `count` bytes at `offset`, fewer only at the end of the file.
  func read(_ request: consuming Request, _ handle: AnyObject, offset: Int64, count: Int)
  /// Finds the next data or hole of a file from `offset` on, as SEEK_DATA and SEEK_HOLE of lseek(2).
  func seek(_ request: consuming Request, _ handle: AnyObject, offset: Int64, toHole: Bool)

  /// Answers OPENDIR with a handle, which is released when the folder is closed.
  func openFolder(_ request: consuming Request, _ node: UInt64)
  /// Answers READDIR, or READDIRPLUS if `wantsNodes`, with the entries after `cookie` that fit into `capacity` bytes.
  func readFolder(
    _ request: consuming Request, _ handle: AnyObject, after cookie: UInt64, capacity: Int, wantsNodes: Bool)

  /// Answers GETXATTR; a `capacity` of 0 asks for the size only.
  func extendedAttribute(_ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, capacity: Int)
  /// Answers LISTXATTR; a `capacity` of 0 asks for the size only.
  func extendedAttributeNames(_ request: consuming Request, _ node: UInt64, capacity: Int)
  /// Answers STATFS.
  func statistics(_ request: consuming Request)
}

/// An open file that the next process is told of.
public protocol NumberedHandle: AnyObject {
  /// The kernel is about to be told of the file, by this number. `lent`: what it has of the file itself.
  func note(_ number: UInt64, lent: Int32?)
}

extension FileSystem {
  public func inherit(_ body: (UInt64, AnyObject) -> Void) {}
  public var isWritable: Bool { false }
}
