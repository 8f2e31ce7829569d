internal import Bytes
internal import CPosix
internal import Files
internal import Glibc

/// Build locks: at any time, only one process on any machine makes a particular result.
///
/// A build lock is a lock of one byte of the file `turns`, whose offset depends on the result's name. Such locks work
/// between machines on NFS, end with their process, and leave nothing behind. They are advisory: without locks, or if a
/// process keeps one too long, a result is made twice and the first is used by all.
extension RenditionCache {
  final class BuildLock: Sendable {
    private let descriptor: Descriptor

    fileprivate init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
  }

  enum TurnAttempt {
    /// The result may be made now. The lock is `nil` if locks are unavailable or the result exists.
    case granted(BuildLock?)
    /// Another process is making the result.
    case held
  }

  /// Tries to acquire the build lock of a result. Blocks only for the disk.
  func attemptTurn(_ name: RenditionName) -> TurnAttempt {
    guard (try? key(making: true)) != nil,
      let descriptor = try? Descriptor.open(creating: "\(folder)/turns")
    else { return .granted(nil) }
    let place = Int64(truncatingIfNeeded: UInt64(littleEndianBytes: name.digest[..<8]) >> 2)
    switch ffmount_lock_byte(descriptor.raw, place) {
    case 0: return .granted(BuildLock(descriptor))
    case EAGAIN, EACCES: return unsafe access(path(name.fileName), F_OK) == 0 ? .granted(nil) : .held
    default: return .granted(nil)
    }
  }
}
