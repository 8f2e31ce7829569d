internal import CSQLite

/// The classification of a failed call.
enum IndexFailure: Error {
  /// Locked, out of space, not writable: may succeed later.
  case passing
  /// Not a database, not an intact one, or one with other tables.
  case damage

  init(_ error: any Error) { self = error as? IndexFailure ?? .passing }

  /// Of an SQLite result code that is no success.
  init(_ status: CInt) {
    // The lower byte is the kind of error.
    switch status & 0xff {
    // A missing table is reported as an error of the query.
    case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_FORMAT,
      // Beyond the limits of a `BoundedConnection`.
      SQLITE_TOOBIG, SQLITE_INTERRUPT:
      self = .damage
    default: self = .passing
    }
  }
}
