internal import Glibc

/// An advisory lock on a directory: one process at a time creates, replaces or removes certain files in it.
package struct FolderLock: Sendable {
  private let descriptor: Int32

  /// Locks a directory. Blocks for at most `patience`. Returns `nil` if the directory cannot be opened, or if another
  /// process has the lock for all that time.
  package init?(of folder: String, patience: Duration) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let end = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if ContinuousClock.now > end {
        close(descriptor)
        return nil
      }
      _ = usleep(Self.interval)
    }
    self.descriptor = descriptor
  }

  /// Unlocks the directory. Must be called once.
  package func release() {
    // Unlocked explicitly: a child process that has not called exec yet may have the descriptor, too.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// The interval between two attempts, in microseconds.
  private static let interval: UInt32 = 10_000
}
