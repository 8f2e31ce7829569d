internal import Bytes
internal import Locks

/// The queues of a tree's watched directories, which end with the tree.
final class WatchList: Sendable {
  private struct Reference: Sendable {
    weak var queue: ChangeQueue?
  }

  /// The queues. `nil` after the tree is closed.
  private let queues = UnfairLock<[Reference]?>([])

  /// Throws an interrupted fault if the tree is closed.
  func add(_ queue: ChangeQueue) throws(Fault) {
    let isOpen = queues.withLock { queues in
      queues?.removeAll { $0.queue == nil }
      queues?.append(Reference(queue: queue))
      return queues != nil
    }
    if !isOpen { throw .interrupted }
  }

  func end() {
    for queue in queues.withLock({ $0.take() }) ?? [] { queue.queue?.end(.success(nil)) }
  }
}
