internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Synchronization

/// A connection to a file that somebody else may have made: nothing in it runs, and nothing it says costs more than its size.
///
/// The file has exactly the tables that we would have made, so there are no views, triggers or virtual tables of others'. No value is larger than
/// any of ours. A statement that takes more steps than the file has bytes to go through is ended, as one goes round in
/// pages that lead to each other; that is damage.
final class BoundedConnection: Sendable {
  private let queue: DatabaseQueue
  private let limit: StepLimit

  /// In bytes; the longest values are packed directories and groups of mailboxes.
  private static let longestValue: CInt = 64 << 20

  /// Throws damage unless the tables are those that `schema` makes.
  /// - Parameters:
  ///   - patience: waits at most this long for another process, in seconds.
  ///   - cache: in KiB.
  ///   - hasChecksums: whether each page has one, and another one is damage.
  init(_ path: String, patience: Double, cache: Int, schema: String, hasChecksums: Bool = false) throws {
    let limit = StepLimit(path)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(patience)
    configuration.prepareDatabase { database in
      BoundedConnection.bound(database, limit)
      if hasChecksums { try PageChecksums.attach(to: database) }
      // A file that is cut short while it is mapped would be a signal, so it is not mapped.
      try database.execute(
        sql: """
          PRAGMA trusted_schema = OFF;
          PRAGMA cell_size_check = ON;
          PRAGMA synchronous = NORMAL;
          PRAGMA mmap_size = 0;
          PRAGMA cache_size = -\(cache);
          PRAGMA journal_size_limit = 4194304;
          PRAGMA temp_store = MEMORY;
          """)
      try BoundedConnection.persistLog(of: database)
      guard try Tables(of: database) == Tables.made(by: schema) else { throw IndexFailure.damage }
    }
    self.limit = limit
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// A database of its own, with the tables that `schema` makes, in a file without a name: it is gone with the connection, or
  /// with the process. `cache` is in KiB; what has room in it is in no file.
  init(temporary schema: String, cache: Int) throws {
    limit = StepLimit(nil)
    // An empty path is SQLite's own word for that.
    queue = try DatabaseQueue(path: "")
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: "PRAGMA page_size = 8192; PRAGMA synchronous = OFF; PRAGMA cache_size = -\(cache); \(schema)")
    }
  }

  /// Calls `body`, which may take as many steps as the file allows. Blocks.
  func inDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try queue.inDatabase { database in
      limit.begin()
      return try body(database)
    }
  }

  func close() throws { try queue.close() }

  private static func bound(_ database: Database, _ limit: StepLimit) {
    let connection = unsafe database.sqliteConnection
    for (what, most) in [
      (SQLITE_LIMIT_LENGTH, longestValue), (SQLITE_LIMIT_SQL_LENGTH, 64 << 10), (SQLITE_LIMIT_COLUMN, 64),
      (SQLITE_LIMIT_EXPR_DEPTH, 64), (SQLITE_LIMIT_COMPOUND_SELECT, 4), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256),
    ] {
      _ = unsafe sqlite3_limit(connection, what, most)
    }
    // Called by the connection alone, which the queue closes before it lets go of its configuration and so of `limit`.
    unsafe sqlite3_progress_handler(
      connection, StepLimit.stride,
      { context in
        guard let context = unsafe context else { return 1 }
        return unsafe Unmanaged<StepLimit>.fromOpaque(context).takeUnretainedValue().takes() ? 0 : 1
      }, Unmanaged.passUnretained(limit).toOpaque())
  }

  /// Leaves the write-ahead log where it is when the last connection closes.
  ///
  /// SQLite would delete it by its name, even where another file has taken this one's place: then the log in use is lost.
  private static func persistLog(of database: Database) throws {
    var flag: CInt = 1
    let status = unsafe sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
    guard status == SQLITE_OK else { throw IndexFailure.passing }
  }
}

/// How many steps of SQLite's machine a call may still take.
private final class StepLimit: Sendable {
  /// nil where nobody else can have written what is in the file.
  private let path: String?
  private let taken = Atomic<Int64>(0)
  private let most = Atomic<Int64>(StepLimit.free)

  /// It is asked after so many steps.
  static let stride: CInt = 1000
  /// What every call may take, whatever the file's size.
  private static let free: Int64 = 2_000_000
  /// Going through a record takes some dozens of steps, and no record has fewer bytes than that.
  private static let stepsPerByte: Int64 = 8

  init(_ path: String?) { self.path = path }

  func begin() {
    taken.store(0, ordering: .relaxed)
    most.store(Self.free, ordering: .relaxed)
  }

  func takes() -> Bool {
    let now = taken.wrappingAdd(Int64(Self.stride), ordering: .relaxed).newValue
    if now <= most.load(ordering: .relaxed) { return true }
    guard let path else { return true }
    // Only now the file is looked at. Holes do not count.
    let size = ["", "-wal"].reduce(Int64(0)) { sum, suffix in
      var status = stat()
      return unsafe lstat(path + suffix, &status) == 0 ? sum + Int64(status.st_blocks) * 512 : sum
    }
    most.store(Self.free + Self.stepsPerByte * size, ordering: .relaxed)
    return now <= most.load(ordering: .relaxed)
  }
}

/// What a file's schema has, word for word.
private struct Tables: Equatable {
  private let rows: [[String?]]

  /// None of ours has more.
  private static let most = 32

  init(of database: Database) throws {
    var rows: [[String?]] = []
    let found = try Row.fetchCursor(
      database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT \(Self.most)")
    while let row = try found.next() { rows.append((0..<4).map { String.fromDatabaseValue(row[$0]) }) }
    self.rows = rows.sorted { ($0[1] ?? "") < ($1[1] ?? "") }
  }

  private static let known = Mutex<[String: Tables]>([:])

  /// Those that some statements make.
  static func made(by schema: String) throws -> Tables {
    if let tables = known.withLock({ $0[schema] }) { return tables }
    let tables = try DatabaseQueue().inDatabase { database in
      try database.execute(sql: schema)
      return try Tables(of: database)
    }
    known.withLock { $0[schema] = tables }
    return tables
  }
}
