internal import CSQLite

/// A connection to an SQLite database. Throws `IndexFailure`. Not thread-safe: `BoundedConnection` serialises its use.
@safe final class Database {
  /// SQLite's own object. Nil once closed.
  private(set) var connection: OpaquePointer?
  private var statements: [String: Statement] = [:]

  /// Opens or creates a file. An empty path is a private, unnamed file. `:memory:` is a database without a file.
  /// - Parameters:
  ///   - blocking: The timeout for another process's lock, in seconds.
  ///   - isImmutable: Whether the file is read without locks, because no process changes it.
  init(_ path: String, blocking: Double = 0, isImmutable: Bool = false) throws {
    let changing = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let reading = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
    let address = isImmutable ? "file:\(Self.encoded(path))?immutable=1" : path
    let status = unsafe sqlite3_open_v2(address, &connection, isImmutable ? reading : changing, nil)
    guard status == SQLITE_OK else {
      unsafe sqlite3_close_v2(connection)
      throw IndexFailure(status)
    }
    _ = unsafe sqlite3_busy_timeout(connection, CInt(blocking * 1000))
  }

  /// Returns a path in a URI.
  private static func encoded(_ path: String) -> String {
    path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
  }

  deinit { close() }

  /// Closes the connection. Later calls throw.
  func close() {
    statements.removeAll()
    unsafe sqlite3_close_v2(connection)
    unsafe connection = nil
  }

  // MARK: Statements

  /// Executes statements without arguments, separated by semicolons. Ignores rows.
  func run(_ statements: String) throws {
    guard let connection = unsafe connection else { throw IndexFailure.passing }
    let status = unsafe sqlite3_exec(connection, statements, nil, nil, nil)
    guard status == SQLITE_OK else { throw IndexFailure(status) }
  }

  /// Returns a statement, which is prepared on first use.
  func statement(_ sql: String) throws -> Statement {
    if let statement = statements[sql] { return statement }
    guard let connection = unsafe connection else { throw IndexFailure.passing }
    let statement = try unsafe Statement(sql, of: connection)
    statements[sql] = statement
    return statement
  }

  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> Rows { try statement(sql).rows(values) }

  func execute(_ sql: String, _ values: [SQLValue] = []) throws { try statement(sql).execute(values) }

  /// Returns the integer in the first column of the first row. Returns `nil` without a row.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    let rows = try rows(sql, values)
    return try rows.next() ? rows.integer(0) : nil
  }

  /// Returns the text in the first column of the first row. Returns `nil` without a row.
  func text(_ sql: String) throws -> String? {
    let rows = try rows(sql)
    return try rows.next() ? rows.text(0) : nil
  }

  /// The number of rows that the last statement changed.
  var changesCount: Int { unsafe Int(sqlite3_changes(connection)) }

  /// Commits the changes of `body`, or none of them if it throws.
  func inTransaction(_ body: () throws -> Void) throws {
    try run("BEGIN IMMEDIATE")
    do {
      try body()
      try run("COMMIT")
    } catch {
      // After some errors, SQLite has rolled back already.
      try? run("ROLLBACK")
      throw error
    }
  }
}

/// A value of a statement's parameter.
enum SQLValue {
  case integer(Int64)
  case blob([UInt8])
  case null
}
