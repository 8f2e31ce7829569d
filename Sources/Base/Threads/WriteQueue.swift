internal import Glibc
internal import Locks

/// A serial thread for writes to a cache, with a bound on the memory of the queued work.
public final class WriteQueue: Sendable {
  private struct State {
    var isUsed = false
    /// The cost of the queued and running work, in bytes.
    var cost = 0
  }

  private let state = UnfairLock(State())
  private let thread = ThreadPool(atMost: 1)
  private let capacity: Int
  private let niceness: Int32

  /// - Parameters:
  ///   - capacity: the maximum cost of the queued work, in bytes.
  ///   - niceness: the priority of the thread, as in setpriority(2).
  public init(capacity: Int, niceness: Int32 = 0) {
    self.capacity = capacity
    self.niceness = niceness
  }

  /// Queues work. Returns false, and drops the work, if too much is queued.
  @discardableResult
  public func submit(cost: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = state.withLock { state in
      guard cost == 0 || state.cost + cost <= capacity else { return false }
      state.cost += cost
      state.isUsed = true
      return true
    }
    guard isTaken else { return false }
    // Retains self, so that queued work is done even if the cache has been released.
    thread.submit { [self] in
      // Readers of the mount come first.
      if niceness != 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
      work()
      state.withLock { $0.cost -= cost }
    }
    return true
  }

  public var isUsed: Bool { state.withLock { $0.isUsed } }

  /// Waits for everything submitted before, or for `limit`. Returns whether it is done.
  public func wait(atMost limit: Duration) -> Bool {
    guard isUsed else { return true }
    let isDone = Monitor(false)
    thread.submit { isDone.update { $0 = true } }
    return isDone.take(within: limit) { $0 ? true : nil } ?? false
  }
}
