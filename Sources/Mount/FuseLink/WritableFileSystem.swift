/// The handler of requests that change something, which only a writable mount receives. The rules of `FileSystem`
/// apply. Names are those in a directory. `handle` is that of an open file or directory.
public protocol WritableFileSystem: FileSystem {
  /// Answers OPEN with the flags of open(2), which may be for writing or truncate the file.
  func openForWriting(_ request: consuming Request, _ node: UInt64, flags: Int32)
  /// Answers CREATE: creates a file and opens it. `mode` excludes the bits of the caller's umask only if the mount does
  /// not enforce access lists.
  func create(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, mode: UInt32, flags: Int32)
  /// Answers WRITE. The bytes are valid during the call. They are appended if `offset` is `nil`.
  func write(_ request: consuming Request, _ handle: AnyObject, _ bytes: UnsafeRawBufferPointer, at offset: Int64?)
  /// Answers FLUSH: a descriptor was closed, and the locks of `owner` end.
  func flush(_ request: consuming Request, _ handle: AnyObject, owner: UInt64)
  /// Answers FSYNC and FSYNCDIR.
  func sync(_ request: consuming Request, _ handle: AnyObject, onlyData: Bool)
  /// Answers SETATTR.
  func setAttributes(
    _ request: consuming Request, _ node: UInt64, _ wish: RequestedAttributes, of handle: AnyObject?)
  /// Answers MKDIR.
  func makeFolder(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, mode: UInt32)
  /// Answers MKNOD.
  func makeNode(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, mode: UInt32, device: UInt64)
  /// Answers SYMLINK.
  func makeLink(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, to target: UnsafePointer<CChar>, in folder: UInt64)
  /// Answers LINK.
  func link(_ request: consuming Request, _ node: UInt64, to name: UnsafePointer<CChar>, in folder: UInt64)
  /// Answers UNLINK and RMDIR.
  func remove(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, isFolder: Bool)
  /// Answers RENAME, with the flags of renameat2(2).
  func rename(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64, to newName: UnsafePointer<CChar>,
    in newFolder: UInt64, flags: UInt32)
  /// Answers ACCESS, for access(2) and chdir(2), with the mode of access(2). Sent only if the kernel does not check
  /// permissions itself.
  func checkAccess(_ request: consuming Request, _ node: UInt64, wanted: Int32)
  /// Answers SETXATTR, or REMOVEXATTR if `bytes` is `nil`. The bytes are valid during the call.
  func setExtendedAttribute(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, to bytes: UnsafeRawBufferPointer?,
    flags: Int32)
  /// Answers GETLK.
  func lockInTheWay(_ request: consuming Request, _ handle: AnyObject, of lock: RangeLock, owner: UInt64)
  /// Answers SETLK, or SETLKW if `waits`.
  func setLock(_ request: consuming Request, _ handle: AnyObject, _ lock: RangeLock, owner: UInt64, waits: Bool)
  /// Answers FLOCK with an operation of flock(2).
  func setLock(_ request: consuming Request, _ handle: AnyObject, whole operation: Int32)
  /// Answers FALLOCATE.
  func allocate(_ request: consuming Request, _ handle: AnyObject, mode: Int32, offset: Int64, count: Int64)
  /// Answers COPY_FILE_RANGE.
  func copy(
    _ request: consuming Request, _ handle: AnyObject, from offset: Int64, to other: AnyObject, at otherOffset: Int64,
    count: Int)
}
