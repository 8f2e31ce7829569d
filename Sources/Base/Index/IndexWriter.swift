internal import Glibc
internal import Locks
internal import Threads

/// The index's own serial thread, with a bound on the queued work.
final class IndexWriter: Sendable {
  private struct State {
    var isUsed = false
    /// The cost of the queued and running work, in bytes.
    var cost = 0
  }

  private let state = UnfairLock(State())
  private let thread = ThreadPool(atMost: 1)

  private static let costAtMost = 24 << 20
  private static let niceness: Int32 = 5

  /// Queues work. Returns false, and drops the work, if too much is queued.
  @discardableResult
  func submit(cost: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = state.withLock { state in
      guard cost == 0 || state.cost + cost <= Self.costAtMost else { return false }
      state.cost += cost
      state.isUsed = true
      return true
    }
    guard isTaken else { return false }
    // Retains self, so that queued work is done even if the index has been released.
    thread.submit { [self] in
      // Readers of the mount come first.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
      work()
      state.withLock { $0.cost -= cost }
    }
    return true
  }

  var isUsed: Bool { state.withLock { $0.isUsed } }

  /// Waits for everything submitted before, or for `limit`. Returns whether it is done.
  func wait(atMost limit: Duration) -> Bool {
    guard isUsed else { return true }
    let isDone = Monitor(false)
    thread.submit { isDone.update { $0 = true } }
    return isDone.take(within: limit) { $0 ? true : nil } ?? false
  }
}
