internal import Bytes
internal import Files
internal import Glibc

/// The descriptor through which one owner's locks of a file are set. The locks end when it is closed.
///
/// Also represents the unnamed file on which the locks of a derived file are set.
final class LockDescriptor: Sendable {
  private let descriptor: Descriptor
  /// Whether the descriptor is a duplicate of an open file's. Closing it then does not end the locks, so they are
  /// removed explicitly.
  private let isShared: Bool
  /// The record for the next process. `nil` if there will be none.
  let entry: OpenLedger.Entry?
  var raw: Int32 { descriptor.raw }

  init(_ descriptor: consuming Descriptor, _ entry: OpenLedger.Entry? = nil, isShared: Bool = false) {
    self.descriptor = descriptor
    self.entry = entry
    self.isShared = isShared
  }

  deinit {
    if isShared { _ = try? FileLock(kind: Int16(F_UNLCK), start: 0, count: 0).set(on: descriptor.raw) }
    entry?.remove()
  }
}
