internal import GRDB
internal import GRDBSQLite
internal import Glibc

/// How the file comes to be there: whole and ours, or not at all.
///
/// A new file is made under another name and moved into place, so that nobody ever finds half of one. Those who look at the
/// file to open it or make it anew hold the folder's lock, one process at a time; those who use it do not.
extension IndexFile {
  static let name = "index.sqlite"
  /// What the file's header calls itself: `ffmt`.
  private static let applicationID: Int32 = 0x6666_6d74
  /// Of the tables and of what their columns mean.
  private static let schemaVersion: Int32 = 1

  private static let schema = """
    CREATE TABLE source(
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, usedAt INTEGER NOT NULL) STRICT;
    CREATE TABLE record(
      source INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL,
      checksum INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY(source, kind, key)) STRICT, WITHOUT ROWID;
    """

  /// Opens the file in `folder`; makes it anew when it is missing, damaged or not ours.
  static func open(in folder: String) throws -> (file: IndexFile, wasRemade: Bool) {
    try makeFolder(folder)
    try checkOwner(folder)
    let lock = try FolderLock(folder)
    defer { lock.release() }
    let path = "\(folder)/\(name)"
    let inode = inode(of: path)
    if let inode {
      do { return (try open(path, inode), false) } catch {
        guard IndexFailure(error) == .damage else { throw error }
      }
    }
    try make(path)
    return (try openNew(path), inode != nil)
  }

  private static func openNew(_ path: String) throws -> IndexFile {
    guard let inode = inode(of: path) else { throw IndexFailure.passing }
    return try open(path, inode)
  }

  private static func open(_ path: String, _ inode: UInt64) throws -> IndexFile {
    let writer = try connection(path, isWriter: true)
    let isOurs = try writer.inDatabase { database in
      try Int32.fetchOne(database, sql: "PRAGMA application_id") == applicationID
        && Int32.fetchOne(database, sql: "PRAGMA user_version") == schemaVersion
        && String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
    }
    guard isOurs else {
      try? writer.close()
      throw IndexFailure.damage
    }
    return IndexFile(path: path, inode: inode, writer: writer, reader: try connection(path, isWriter: false))
  }

  /// Waits at most this long for another process; in seconds. Who writes is in no hurry.
  private static let patience = (reading: 0.25, writing: 2.0)

  private static func connection(_ path: String, isWriter: Bool) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(isWriter ? patience.writing : patience.reading)
    configuration.prepareDatabase { database in
      // A file that is cut short while it is mapped would be a signal, so it is not mapped.
      try database.execute(
        sql: """
          PRAGMA synchronous = NORMAL;
          PRAGMA mmap_size = 0;
          PRAGMA cache_size = -1024;
          PRAGMA journal_size_limit = 4194304;
          PRAGMA temp_store = MEMORY;
          """)
      try IndexFile.persistLog(of: database)
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Leaves the write-ahead log where it is when the last connection closes.
  ///
  /// SQLite would delete it by its name, even where another file has taken this one's place: then the log in use is lost.
  private static func persistLog(of database: Database) throws {
    var flag: CInt = 1
    let status = unsafe sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
    guard status == SQLITE_OK else { throw IndexFailure.passing }
  }

  /// Puts an empty file of ours in the place of whatever is there.
  private static func make(_ path: String) throws {
    let fresh = "\(path).\(getpid())"
    removeFile(fresh)
    defer { removeFile(fresh) }
    // SQLite gives a file's rights to what it puts beside it.
    let descriptor = unsafe Glibc.open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw IndexFailure.passing }
    _ = Glibc.close(descriptor)
    let queue = try DatabaseQueue(path: fresh)
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: """
          PRAGMA page_size = 8192;
          PRAGMA auto_vacuum = INCREMENTAL;
          PRAGMA journal_mode = WAL;
          BEGIN;
          PRAGMA application_id = \(applicationID);
          PRAGMA user_version = \(schemaVersion);
          \(schema)
          COMMIT;
          """)
    }
    // Not persistent here: the log goes into the file and away.
    try queue.close()
    // Whoever has the old file open keeps it, without a name. Its log must not be taken for the new file's.
    for suffix in ["-wal", "-shm"] { _ = unsafe unlink(path + suffix) }
    guard unsafe rename(fresh, path) == 0 else { throw IndexFailure.passing }
  }

  /// Takes a damaged file away, unless that has been done.
  static func condemn(_ path: String, _ damaged: UInt64) {
    let folder = String(path.dropLast(name.count + 1))
    guard let lock = try? FolderLock(folder) else { return }
    if inode(of: path) == damaged { removeFile(path) }
    lock.release()
  }

  private static func removeFile(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
  }

  /// nil when there is nothing under that name.
  static func inode(of path: String) -> UInt64? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private static func makeFolder(_ path: String) throws {
    if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw IndexFailure.passing
    }
    try makeFolder(String(path[..<slash]))
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw IndexFailure.passing }
  }

  /// In another user's folder nothing is kept: there is no telling what becomes of it.
  private static func checkOwner(_ path: String) throws {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_uid == geteuid() else { throw IndexFailure.passing }
  }
}

/// One process at a time opens the file, or makes it anew.
private struct FolderLock {
  private let descriptor: Int32

  init(_ folder: String) throws {
    descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw IndexFailure.passing }
    for _ in 0..<50 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      _ = usleep(10_000)
    }
    close(descriptor)
    throw IndexFailure.passing
  }

  func release() { close(descriptor) }
}
