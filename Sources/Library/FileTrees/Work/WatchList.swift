internal import Bytes
internal import Locks

/// The queues of a tree's watched directories, which end with the tree.
final class WatchList: Sendable {
  private struct Reference: Sendable {
    weak var queue: ChangeQueue?
  }

  private struct State {
    var queues: [Reference] = []
    /// The number of queues at which released ones are removed.
    var mostBeforePurge = 64
    var isClosed = false
  }

  private let state = UnfairLock(State())

  /// Throws an interrupted fault if the tree is closed. Amortised O(1).
  func add(_ queue: ChangeQueue) throws(Fault) {
    let isClosed = state.withLock { state in
      if state.isClosed { return true }
      if state.queues.count >= state.mostBeforePurge {
        state.queues.removeAll { $0.queue == nil }
        state.mostBeforePurge = max(64, 2 * state.queues.count)
      }
      state.queues.append(Reference(queue: queue))
      return false
    }
    if isClosed { throw .interrupted }
  }

  func end() {
    let queues = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.queues
    }
    for queue in queues { queue.queue?.end(.success(nil)) }
  }
}
