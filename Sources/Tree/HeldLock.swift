internal import Bytes
internal import Files
internal import Glibc

/// A descriptor that a file's locks are set by; they end with it.
final class HeldLock: Sendable {
  private let descriptor: Descriptor
  /// Whether the open file description is also that of an open file, which the locks would outlive it by.
  private let isShared: Bool
  var raw: Int32 { descriptor.raw }

  init(_ descriptor: consuming Descriptor, isShared: Bool = false) {
    self.descriptor = descriptor
    self.isShared = isShared
  }

  deinit {
    if isShared { _ = try? FileLock(kind: Int16(F_UNLCK), start: 0, count: 0).set(on: descriptor.raw) }
  }
}
