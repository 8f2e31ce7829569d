internal import Files

/// Opening and creating the file.
extension IndexFile {
  static let name = "index.sqlite"
  /// The application ID in the file's header: `ffmt`.
  private static let applicationID: Int64 = 0x6666_6d74
  /// The version of the tables and of the meaning of their columns.
  private static let schemaVersion: Int64 = 2

  private static let schema = """
    CREATE TABLE source(
      id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, usedAt INTEGER NOT NULL) STRICT;
    CREATE TABLE record(
      source INTEGER NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL,
      checksum INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY(source, kind, key)) STRICT, WITHOUT ROWID;
    """

  /// Opens the file in `folder`. Recreates it if it is missing, damaged or not ours.
  static func open(in folder: String) throws -> (file: IndexFile, wasRemade: Bool) {
    // Nothing is stored in a directory that others can change.
    guard (try? OwnFolder.check(folder, making: true)) != nil, let key = try? OwnKey.key(in: folder) else {
      throw IndexFailure.passing
    }
    let path = "\(folder)/\(name)"
    return try DatabaseFile.open(path) { inode in
      try open(path, inode, key)
    } orMake: {
      try DatabaseFile.make(
        path, "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL"
      ) { database in
        try database.run(
          "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(schemaVersion); \(schema)")
      }
    }
  }

  /// Timeouts for another process's lock, in seconds. The writer can wait longer.
  private static let blocking = (reading: 0.25, writing: 2.0)
  /// The cache size, in KiB.
  private static let cache = 1024

  private static func open(_ path: String, _ inode: UInt64, _ key: [UInt8]) throws -> IndexFile {
    let writer = try BoundedConnection(path, blocking: blocking.writing, cache: cache, schema: schema)
    let isOurs = try writer.inDatabase { database in
      try database.integer("PRAGMA application_id") == applicationID
        && database.integer("PRAGMA user_version") == schemaVersion
        && database.text("PRAGMA journal_mode") == "wal"
    }
    guard isOurs else {
      writer.close()
      throw IndexFailure.damage
    }
    let reader = try BoundedConnection(path, blocking: blocking.reading, cache: cache, schema: schema)
    return IndexFile(path: path, inode: inode, key: key, writer: writer, reader: reader)
  }
}
