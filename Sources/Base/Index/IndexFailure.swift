internal import GRDB

/// The classification of a failed call.
enum IndexFailure: Error {
  /// Locked, out of space, not writable: may succeed later.
  case passing
  /// Not a database, not an intact one, or one with other tables.
  case damage

  init(_ error: any Error) {
    if let failure = error as? IndexFailure {
      self = failure
      return
    }
    guard let error = error as? DatabaseError else {
      // GRDB found a value of another type than the schema's.
      self = .damage
      return
    }
    switch error.resultCode {
    // A missing table is reported as an error of the query.
    case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_CONSTRAINT, .SQLITE_FORMAT,
      // Beyond the limits of a `BoundedConnection`.
      .SQLITE_TOOBIG, .SQLITE_INTERRUPT:
      self = .damage
    default: self = .passing
    }
  }
}
