internal import Bytes
internal import Files
internal import Glibc

/// A descriptor through which a file's locks are set. They end with it.
final class HeldLock: Sendable {
  private let descriptor: Descriptor
  /// Whether the open file description is also that of an open file, beyond which the locks would persist.
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
