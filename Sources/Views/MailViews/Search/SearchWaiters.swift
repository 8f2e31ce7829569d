internal import Bytes
internal import Synchronization
internal import Tree

/// Counts the waiters for query results, over all mailboxes.
///
/// Each waiter occupies a thread, of which a mount has a few hundred. Beyond a limit, queries return the available
/// results at once, so that threads stay free.
final class SearchWaiters: Sendable {
  private let count = Atomic<Int>(0)
  private static let most = 64

  /// Calls `body` as one of the waiters. Its argument says whether it may wait.
  func waits<Value>(_ body: (_ mayWait: Bool) throws(Fault) -> Value) throws(Fault) -> Value {
    defer { count.subtract(1, ordering: .relaxed) }
    return try body(count.add(1, ordering: .relaxed).newValue <= Self.most)
  }
}
