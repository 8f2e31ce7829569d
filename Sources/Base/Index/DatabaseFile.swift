internal import Files
internal import Glibc

/// An SQLite file shared by several processes. It exists complete or not at all.
///
/// A new file is created under another name and then renamed, so that no process finds a partial one. A process holds
/// the directory's lock while it opens, creates or removes the file, but not while it uses it.
enum DatabaseFile {
  /// Returns the inode number of a file. Returns `nil` if it does not exist.
  static func inode(of path: String) -> UInt64? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  /// Returns the `user_version` in a file's header (SQLite's file format, section 1.3). Throws damage if it has no such
  /// header.
  static func userVersion(of path: String) throws -> Int64 {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw IndexFailure.passing }
    defer { _ = Glibc.close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = unsafe header.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw IndexFailure.passing }
    guard count == header.count, header.starts(with: Array("SQLite format 3\0".utf8)) else { throw IndexFailure.damage }
    return header[60..<64].reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Returns whether the file and SQLite's files beside it are regular files of this user.
  private static func isOwn(_ path: String) -> Bool {
    OwnFolder.isOwn(file: path)
      && ["-wal", "-shm"].allSatisfy { inode(of: path + $0) == nil || OwnFolder.isOwn(file: path + $0) }
  }

  /// Calls `open` with the file's inode number. If the file is missing, damaged or not ours, calls `make` first to
  /// replace it. `wasRemade` tells whether an existing file was replaced.
  static func open<File>(
    _ path: String, _ open: (_ inode: UInt64) throws -> File, orMake make: () throws -> Void
  ) throws -> (file: File, wasRemade: Bool) {
    guard let lock = folderLock(of: path) else { throw IndexFailure.passing }
    defer { lock.release() }
    let present = inode(of: path)
    if let present, isOwn(path) {
      do { return (try open(present), false) } catch {
        guard IndexFailure(error) == .damage else { throw error }
      }
    }
    try make()
    guard let made = inode(of: path) else { throw IndexFailure.passing }
    return (try open(made), present != nil)
  }

  /// Creates a new file and replaces any existing one. `settings` are executed before any table is created.
  static func make(
    _ path: String, _ settings: String, hasChecksums: Bool = false, _ fill: (Database) throws -> Void
  ) throws {
    let fresh = "\(path).\(getpid())"
    remove(fresh)
    defer { remove(fresh) }
    // SQLite gives a file's permissions to the files beside it.
    let descriptor = unsafe Glibc.open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw IndexFailure.passing }
    _ = Glibc.close(descriptor)
    let database = try Database(fresh)
    if hasChecksums { try PageChecksums.attach(to: database) }
    try database.run(settings)
    try database.inTransaction { try fill(database) }
    // Not persistent here: the log is checkpointed and deleted.
    database.close()
    // A process that has the old file open keeps it, unlinked. The old log must not be taken for the new file's.
    for suffix in ["-wal", "-shm"] { _ = unsafe unlink(path + suffix) }
    guard unsafe rename(fresh, path) == 0 else { throw IndexFailure.passing }
  }

  /// Removes a damaged file, unless that has been done already.
  static func condemn(_ path: String, _ damaged: UInt64) {
    guard let lock = folderLock(of: path) else { return }
    if inode(of: path) == damaged { remove(path) }
    lock.release()
  }

  /// Locks the directory of a file. Blocks for half a second at most. Returns `nil` if other processes have the lock.
  private static func folderLock(of path: String) -> FolderLock? {
    FolderLock(of: path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".", patience: .milliseconds(500))
  }

  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
  }
}
