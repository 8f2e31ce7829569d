internal import CSQLite

/// The classification of a failed call.
enum IndexFailure: Error {
  /// The file is locked, out of space or not writable. The call may succeed later.
  case passing
  /// The file is not an intact database, or it has other tables.
  case damage

  init(_ error: any Error) { self = error as? IndexFailure ?? .passing }

  /// Classifies an SQLite result code other than success.
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
