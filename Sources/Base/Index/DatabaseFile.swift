internal import Files
internal import GRDB
internal import Glibc

/// A file of SQLite that several processes use: it is there whole, or not at all.
///
/// A new file is made under another name and moved into place, so that nobody ever finds half of one. Those who look at the
/// file to open it, make it anew or take it away hold its folder's lock, one process at a time; those who use it do not.
enum DatabaseFile {
  /// nil when there is nothing under that name.
  static func inode(of path: String) -> UInt64? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  /// Whether the file and what SQLite puts beside it are plain files of this user's.
  private static func isOwn(_ path: String) -> Bool {
    OwnFolder.isOwn(file: path)
      && ["-wal", "-shm"].allSatisfy { inode(of: path + $0) == nil || OwnFolder.isOwn(file: path + $0) }
  }

  /// Calls `open` with the file's inode; where that finds no sound file of ours, or nothing is there, `make` puts one in its
  /// place first. Gives whether that was so although there was one.
  static func open<File>(
    _ path: String, _ open: (_ inode: UInt64) throws -> File, orMake make: () throws -> Void
  ) throws -> (file: File, wasRemade: Bool) {
    let lock = try FolderLock(of: path)
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

  /// Puts a new file in the place of whatever is there. `settings` are what must be said before there is any table.
  static func make(
    _ path: String, _ settings: String, hasChecksums: Bool = false, _ fill: (Database) throws -> Void
  ) throws {
    let fresh = "\(path).\(getpid())"
    remove(fresh)
    defer { remove(fresh) }
    // SQLite gives a file's rights to what it puts beside it.
    let descriptor = unsafe Glibc.open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw IndexFailure.passing }
    _ = Glibc.close(descriptor)
    var configuration = Configuration()
    if hasChecksums { configuration.prepareDatabase { try PageChecksums.attach(to: $0) } }
    let queue = try DatabaseQueue(path: fresh, configuration: configuration)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: settings)
      try database.inTransaction {
        try fill(database)
        return .commit
      }
    }
    // Not persistent here: the log goes into the file and away.
    try queue.close()
    // Whoever has the old file open keeps it, without a name. Its log must not be taken for the new file's.
    for suffix in ["-wal", "-shm"] { _ = unsafe unlink(path + suffix) }
    guard unsafe rename(fresh, path) == 0 else { throw IndexFailure.passing }
  }

  /// Takes a damaged file away, unless that has been done.
  static func condemn(_ path: String, _ damaged: UInt64) {
    guard let lock = try? FolderLock(of: path) else { return }
    if inode(of: path) == damaged { remove(path) }
    lock.release()
  }

  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
  }
}

/// One process at a time opens a folder's files, or makes them anew.
private struct FolderLock {
  private let descriptor: Int32

  init(of path: String) throws {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw IndexFailure.passing }
    for _ in 0..<50 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      _ = usleep(10_000)
    }
    close(descriptor)
    throw IndexFailure.passing
  }

  func release() {
    // A process that is about to start another program may have it open, too.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
