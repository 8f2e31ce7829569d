internal import Bytes
internal import Files
internal import Glibc

/// A descriptor through which locks of a file are set. The locks end with this object.
///
/// Also represents the unnamed file on which the locks of a derived file are set.
final class LockDescriptor: Sendable {
  private let descriptor: Descriptor
  /// The access mode of open(2).
  private let mode: Int32
  /// The record for the next process. `nil` if there will be none.
  let entry: OpenLedger.Entry?
  var raw: Int32 { descriptor.raw }

  init(_ descriptor: consuming Descriptor, _ entry: OpenLedger.Entry? = nil) {
    mode = fcntl(descriptor.raw, F_GETFL) & O_ACCMODE
    self.descriptor = descriptor
    self.entry = entry
  }

  deinit {
    endLocks()
    entry?.remove()
  }

  /// Ends all locks.
  ///
  /// Closing the descriptor is not enough: it may be a duplicate of an open file's, and a process that is being started
  /// has a duplicate until it executes its program.
  func endLocks() { _ = try? FileLock(kind: Int16(F_UNLCK), start: 0, count: 0).set(on: descriptor.raw) }

  /// Returns whether the access mode permits locks of a kind, F_RDLCK or F_WRLCK.
  func permits(_ kind: Int16) -> Bool { mode != (kind == Int16(F_RDLCK) ? O_WRONLY : O_RDONLY) }
}
