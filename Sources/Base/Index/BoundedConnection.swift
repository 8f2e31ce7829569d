internal import CSQLite
internal import Glibc
internal import Locks
internal import Synchronization

/// A connection to an untrusted database file. Nothing in the file is executed, and its size bounds the cost of a
/// statement.
///
/// The file has exactly the tables of our schema, so it contains no foreign views, triggers or virtual tables. No value
/// is larger than the largest we write. A statement that takes more steps than the file has bytes to read, for instance
/// in a cycle of pages, is aborted and counts as damage.
@safe final class BoundedConnection: @unchecked Sendable {
  /// The connection. Used with `lock` held, for at most the steps of `limit`.
  private let database: Database
  private let lock = UnfairLock(())
  private let limit: StepLimit

  /// The maximum size of a value, in bytes. The longest values are packed directories and mailbox groups.
  private static let longestValue: CInt = 64 << 20

  /// Opens a file. Throws damage unless the tables are those that `schema` creates.
  /// - Parameters:
  ///   - patience: The timeout for another process's lock, in seconds.
  ///   - cache: The cache size, in KiB.
  ///   - hasChecksums: Whether each page has a checksum, verified when it is read.
  ///   - isImmutable: Whether no process changes the file, which then needs neither locks nor a log.
  init(
    _ path: String, blocking: Double, cache: Int, schema: String, hasChecksums: Bool = false, isImmutable: Bool = false
  ) throws {
    limit = StepLimit(path)
    database = try Database(path, blocking: blocking, isImmutable: isImmutable)
    bound()
    if hasChecksums { try PageChecksums.attach(to: database) }
    // Not mapped: truncating a mapped file would raise a signal.
    try database.run(
      """
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;
      PRAGMA synchronous = NORMAL;
      PRAGMA mmap_size = 0;
      PRAGMA cache_size = -\(cache);
      PRAGMA journal_size_limit = 4194304;
      PRAGMA temp_store = MEMORY;
      """)
    if !isImmutable { try persistLog() }
    try HeadRank.attach(to: database)
    guard try Tables(of: database) == Tables.made(by: schema) else { throw IndexFailure.damage }
  }

  /// Creates a private database with the tables of `schema`, in an unnamed file that ends with the connection or the
  /// process. `cache` is in KiB. Data that fits in it is not written to a file.
  init(temporary schema: String, cache: Int) throws {
    limit = StepLimit(nil)
    // For SQLite, an empty path is a private temporary file.
    database = try Database("")
    try database.run("PRAGMA page_size = 8192; PRAGMA synchronous = OFF; PRAGMA cache_size = -\(cache); \(schema)")
    try HeadRank.attach(to: database)
  }

  /// Calls `body` with a fresh step limit, which depends on the file's size. Blocks.
  func inDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try lock.withLock { _ in
      limit.begin()
      return try body(database)
    }
  }

  /// Grants the call in progress the steps of a new one, for a call of many statements. Called in `inDatabase`.
  func renewLimit() { limit.begin() }

  func close() { lock.withLock { _ in database.close() } }

  private func bound() {
    let connection = unsafe database.connection
    for (what, most) in [
      (SQLITE_LIMIT_LENGTH, Self.longestValue), (SQLITE_LIMIT_SQL_LENGTH, 64 << 10), (SQLITE_LIMIT_COLUMN, 64),
      (SQLITE_LIMIT_EXPR_DEPTH, 64), (SQLITE_LIMIT_COMPOUND_SELECT, 4), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256),
    ] {
      _ = unsafe sqlite3_limit(connection, what, most)
    }
    // Called by the connection only, in `inDatabase`.
    unsafe sqlite3_progress_handler(
      connection, StepLimit.stride,
      { context in
        guard let context = unsafe context else { return 1 }
        return unsafe Unmanaged<StepLimit>.fromOpaque(context).takeUnretainedValue().takes() ? 0 : 1
      }, Unmanaged.passUnretained(limit).toOpaque())
  }

  /// Keeps the write-ahead log when the last connection closes.
  ///
  /// SQLite would delete it by name, even if another file has replaced this one. The log in use would then be lost.
  private func persistLog() throws {
    var flag: CInt = 1
    let status = unsafe sqlite3_file_control(database.connection, nil, SQLITE_FCNTL_PERSIST_WAL, &flag)
    guard status == SQLITE_OK else { throw IndexFailure.passing }
  }
}

/// The limit of the virtual machine steps that a call may take.
private final class StepLimit: Sendable {
  /// The path of the file. Nil if no other process can have written the file.
  private let path: String?
  private let taken = Atomic<Int64>(0)
  private let most = Atomic<Int64>(StepLimit.free)

  /// The number of steps between calls of `takes`.
  static let stride: CInt = 1000
  /// The number of steps that every call may take, regardless of the file's size.
  private static let free: Int64 = 2_000_000
  /// The number of further steps for each byte of the file. Reading a record takes a few dozen steps, and no record has
  /// fewer bytes than that.
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
    // The file's size is read only past the fixed limit. Holes do not count.
    let size = ["", "-wal"].reduce(Int64(0)) { sum, suffix in
      var status = stat()
      return unsafe lstat(path + suffix, &status) == 0 ? sum + Int64(status.st_blocks) * 512 : sum
    }
    most.store(Self.free + Self.stepsPerByte * size, ordering: .relaxed)
    return now <= most.load(ordering: .relaxed)
  }
}

/// The rows of a file's schema table.
private struct Tables: Equatable {
  private let rows: [[String?]]

  /// The maximum number of rows to read, which exceeds that of any of our schemas.
  private static let most = 32

  init(of database: Database) throws {
    var rows: [[String?]] = []
    let found = try database.rows("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT \(Self.most)")
    while try found.next() { rows.append([found.text(0), found.text(1), found.text(2), found.text(3)]) }
    self.rows = rows.sorted { ($0[1] ?? "") < ($1[1] ?? "") }
  }

  private static let known = UnfairLock<[String: Tables]>([:])

  /// Returns the tables that the statements of `schema` create.
  static func made(by schema: String) throws -> Tables {
    if let tables = known.withLock({ $0[schema] }) { return tables }
    let database = try Database(":memory:")
    try database.run(schema)
    let tables = try Tables(of: database)
    known.withLock { $0[schema] = tables }
    return tables
  }
}
