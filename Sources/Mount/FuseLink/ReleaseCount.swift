internal import Glibc
internal import Synchronization

/// The number of RELEASE requests in progress.
///
/// The kernel sends RELEASE without waiting for the reply, so close(2) may return before the locks of the file have ended.
/// It sends later requests after it, but another reader may answer them first.
final class ReleaseCount: Sendable {
  private let count = Atomic<Int>(0)

  /// The interval between checks, in microseconds, and the maximum number of checks.
  private static let round: UInt32 = 100
  private static let rounds = 1000

  func begin() { count.add(1, ordering: .sequentiallyConsistent) }

  func end() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// Waits until no request is in progress, for 0.1 s at most. Returns whether any was.
  func wait() -> Bool {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return false }
    for _ in 0..<Self.rounds where count.load(ordering: .sequentiallyConsistent) > 0 { _ = usleep(Self.round) }
    return true
  }
}
