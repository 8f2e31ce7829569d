internal import Bytes
internal import CPosix
internal import Files
internal import Glibc

/// Who makes a result: one process at a time, on whichever machine.
///
/// A turn is a lock of one byte of the file `turns`, the byte that a result's name says: such locks hold between machines on
/// NFS, end with their process, and leave nothing behind. Nothing rests on them: where there are none, or somebody holds one for
/// too long, a result is made twice, and the first is everybody's.
extension RenditionCache {
  final class Turn: Sendable {
    private let descriptor: Descriptor

    fileprivate init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
  }

  /// In seconds: whoever takes longer may hang.
  private static let longestWait = 120.0
  private static let steps: (first: UInt32, last: UInt32) = (5_000, 200_000)

  /// Waits until it is this process's turn to make what is kept under a name, or that is there. nil: there are no turns, the wait
  /// took too long, or `isWanted` has become false. Blocks.
  func turn(_ name: RenditionName, while isWanted: () -> Bool) -> Turn? {
    guard (try? key(making: true)) != nil else { return nil }
    let raw = unsafe open("\(folder)/turns", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard raw >= 0 else { return nil }
    let descriptor = Descriptor(owning: raw)
    let place = Int64(truncatingIfNeeded: UInt64(littleEndianBytes: name.digest[..<8]) >> 2)
    let start = ContinuousClock.now
    var step = Self.steps.first
    while true {
      switch ffmount_lock_byte(raw, place) {
      case 0: return Turn(descriptor)
      case EAGAIN, EACCES: break
      default: return nil
      }
      if unsafe access(path(name.fileName), F_OK) == 0 || !isWanted()
        || ContinuousClock.now - start > .seconds(Self.longestWait)
      {
        return nil
      }
      _ = usleep(step)
      step = min(step * 2, Self.steps.last)
    }
  }
}
