internal import Bytes
internal import CPosix
internal import Files
internal import Glibc

/// Which process makes a result: one at a time, on any machine.
///
/// A turn is a lock of one byte of the file `turns`, the byte that a result's name says: such locks hold between machines on
/// NFS, end with their process, and leave nothing behind. Nothing rests on them: where there are none, or a process holds one
/// for too long, a result is made twice, and the first is everybody's.
extension RenditionCache {
  final class Turn: Sendable {
    private let descriptor: Descriptor

    fileprivate init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
  }

  enum TurnAttempt {
    /// The result may be made now. The turn is nil if there are no turns, or the result exists.
    case granted(Turn?)
    /// Another process makes it.
    case held
  }

  /// Tries to get the turn to make the result of a name. Blocks on the disk only.
  func attemptTurn(_ name: RenditionName) -> TurnAttempt {
    guard (try? key(making: true)) != nil,
      let descriptor = try? Descriptor.open(creating: "\(folder)/turns")
    else { return .granted(nil) }
    let place = Int64(truncatingIfNeeded: UInt64(littleEndianBytes: name.digest[..<8]) >> 2)
    switch ffmount_lock_byte(descriptor.raw, place) {
    case 0: return .granted(Turn(descriptor))
    case EAGAIN, EACCES: return unsafe access(path(name.fileName), F_OK) == 0 ? .granted(nil) : .held
    default: return .granted(nil)
    }
  }
}
