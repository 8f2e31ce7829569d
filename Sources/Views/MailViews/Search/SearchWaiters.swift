internal import Bytes
internal import Synchronization
internal import Tree

/// Those who wait for the answers to queries, of all mailboxes.
///
/// Each has a thread that waits, of which a mount has some hundreds: so that others always find one, who comes when many wait
/// already is answered at once by what there is.
final class SearchWaiters: Sendable {
  private let count = Atomic<Int>(0)
  private static let most = 64

  /// Calls `body` for one of them, with whether he may wait.
  func waits<Value>(_ body: (_ mayWait: Bool) throws(Fault) -> Value) throws(Fault) -> Value {
    defer { count.subtract(1, ordering: .relaxed) }
    return try body(count.add(1, ordering: .relaxed).newValue <= Self.most)
  }
}
