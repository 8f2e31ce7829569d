internal import GRDB

/// What a failed call says about the file.
enum IndexFailure: Error {
  /// Locked, out of space, not to be written: another time, perhaps.
  case passing
  /// No database, not a sound one, or not with these tables.
  case damage

  init(_ error: any Error) {
    if let failure = error as? IndexFailure {
      self = failure
      return
    }
    guard let error = error as? DatabaseError else {
      // GRDB found a value of another type than the tables have.
      self = .damage
      return
    }
    switch error.resultCode {
    // A table that is not there is an error of the query's.
    case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_CONSTRAINT, .SQLITE_FORMAT,
      // Past the limits of a `BoundedConnection`.
      .SQLITE_TOOBIG, .SQLITE_INTERRUPT:
      self = .damage
    default: self = .passing
    }
  }
}
