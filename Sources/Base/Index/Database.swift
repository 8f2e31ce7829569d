internal import CSQLite

/// A connection to an SQLite database. Throws `IndexFailure`. Not thread-safe: `BoundedConnection` serialises its use.
@safe final class Database {
  /// SQLite's own object; nil once closed.
  private(set) var connection: OpaquePointer?
  private var statements: [String: Statement] = [:]

  /// Opens or creates a file; an empty path is a private one without a name, `:memory:` has none.
  /// - Parameter patience: the timeout for another process's lock, in seconds.
  init(_ path: String, patience: Double = 0) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = unsafe sqlite3_open_v2(path, &connection, flags, nil)
    guard status == SQLITE_OK else {
      unsafe sqlite3_close_v2(connection)
      throw IndexFailure(status)
    }
    _ = unsafe sqlite3_busy_timeout(connection, CInt(patience * 1000))
  }

  deinit { close() }

  /// What is called later throws.
  func close() {
    statements.removeAll()
    unsafe sqlite3_close_v2(connection)
    unsafe connection = nil
  }

  // MARK: Statements

  /// Executes statements without arguments, separated by semicolons; rows are ignored.
  func run(_ statements: String) throws {
    guard let connection = unsafe connection else { throw IndexFailure.passing }
    let status = unsafe sqlite3_exec(connection, statements, nil, nil, nil)
    guard status == SQLITE_OK else { throw IndexFailure(status) }
  }

  /// One statement, prepared when it is first asked for.
  func statement(_ sql: String) throws -> Statement {
    if let statement = statements[sql] { return statement }
    guard let connection = unsafe connection else { throw IndexFailure.passing }
    let statement = try unsafe Statement(sql, of: connection)
    statements[sql] = statement
    return statement
  }

  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> Rows { try statement(sql).rows(values) }

  func execute(_ sql: String, _ values: [SQLValue] = []) throws { try statement(sql).execute(values) }

  /// The integer in the first column of the first row; nil without a row.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    let rows = try rows(sql, values)
    return try rows.next() ? rows.integer(0) : nil
  }

  /// The text in the first column of the first row; nil without a row.
  func text(_ sql: String) throws -> String? {
    let rows = try rows(sql)
    return try rows.next() ? rows.text(0) : nil
  }

  /// How many rows the last statement changed.
  var changesCount: Int { unsafe Int(sqlite3_changes(connection)) }

  /// Commits what `body` does, or nothing of it if it throws.
  func inTransaction(_ body: () throws -> Void) throws {
    try run("BEGIN IMMEDIATE")
    do {
      try body()
      try run("COMMIT")
    } catch {
      // After some errors SQLite has done so itself.
      try? run("ROLLBACK")
      throw error
    }
  }
}

/// A value of a statement's parameter.
enum SQLValue {
  case integer(Int64)
  case blob([UInt8])
}
