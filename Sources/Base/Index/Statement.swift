internal import CSQLite

/// A prepared statement of a `Database`. Only one execution at a time is possible.
@safe final class Statement {
  private let connection: OpaquePointer
  fileprivate let statement: OpaquePointer

  init(_ sql: String, of connection: OpaquePointer) throws {
    var made: OpaquePointer?
    let status = unsafe sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard status == SQLITE_OK, let made = unsafe made else { throw IndexFailure(status) }
    unsafe self.connection = connection
    unsafe statement = made
  }

  deinit { unsafe sqlite3_finalize(statement) }

  /// Starts the statement with the values of its parameters, in order.
  func rows(_ values: [SQLValue]) throws -> Rows {
    for (index, value) in values.enumerated() {
      let status = bind(value, CInt(index + 1))
      guard status == SQLITE_OK else { throw IndexFailure(status) }
    }
    return Rows(self)
  }

  func execute(_ values: [SQLValue]) throws {
    let rows = try rows(values)
    while try rows.next() {}
  }

  private func bind(_ value: SQLValue, _ index: CInt) -> CInt {
    switch value {
    case .integer(let number): return unsafe sqlite3_bind_int64(statement, index, number)
    case .null: return unsafe sqlite3_bind_null(statement, index)
    case .blob(let bytes):
      return unsafe bytes.withUnsafeBytes { bytes in
        // A blob with a null address would be NULL.
        guard let address = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
        return unsafe sqlite3_bind_blob64(statement, index, address, UInt64(bytes.count), Statement.copying)
      }
    }
  }

  /// SQLITE_TRANSIENT, a macro: SQLite copies the bytes.
  private static var copying: sqlite3_destructor_type? { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type?.self) }
}

/// The rows that a statement returns, one at a time. The deinit resets the statement.
struct Rows: ~Copyable {
  private let statement: Statement

  fileprivate init(_ statement: Statement) { self.statement = statement }

  deinit { unsafe sqlite3_reset(statement.statement) }

  /// Advances to the next row, first to the first one. Returns false after the last one.
  func next() throws -> Bool {
    switch unsafe sqlite3_step(statement.statement) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    case let status: throw IndexFailure(status)
    }
  }

  // MARK: The row's columns, by index from 0

  /// Returns an integer. Throws damage if the value is not an integer.
  func integer(_ column: CInt) throws -> Int64 {
    guard unsafe sqlite3_column_type(statement.statement, column) == SQLITE_INTEGER else { throw IndexFailure.damage }
    return unsafe sqlite3_column_int64(statement.statement, column)
  }

  /// Returns a blob. Throws damage if the value is not a blob.
  func bytes(_ column: CInt) throws -> [UInt8] {
    guard unsafe sqlite3_column_type(statement.statement, column) == SQLITE_BLOB else { throw IndexFailure.damage }
    return unsafe [UInt8](content(sqlite3_column_blob(statement.statement, column), of: column))
  }

  /// Returns a text. Returns `nil` if the value is not a text.
  func text(_ column: CInt) -> String? {
    guard unsafe sqlite3_column_type(statement.statement, column) == SQLITE_TEXT else { return nil }
    let text = unsafe UnsafeRawPointer(sqlite3_column_text(statement.statement, column))
    return unsafe String(decoding: content(text, of: column), as: UTF8.self)
  }

  /// Returns the bytes of a value, valid until the next row. SQLite knows the length only after the value was
  /// requested.
  private func content(_ start: UnsafeRawPointer?, of column: CInt) -> UnsafeRawBufferPointer {
    let count = unsafe Int(sqlite3_column_bytes(statement.statement, column))
    return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }
}
