internal import Dispatch
internal import Glibc
internal import Synchronization

/// The index's own serial queue, with a bound on the work queued.
final class IndexWriter: Sendable {
  private struct State {
    /// nil before first use.
    var queue: DispatchQueue?
    /// Of the queued and running work, in bytes.
    var cost = 0
  }

  private let state = Mutex(State())

  private static let costAtMost = 24 << 20
  private static let niceness: Int32 = 5

  /// Returns false, and drops the work, when too much is queued.
  @discardableResult
  func submit(cost: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard cost == 0 || state.cost + cost <= Self.costAtMost else { return false }
      state.cost += cost
      let queue = state.queue ?? DispatchQueue(label: "ffmount.index", qos: .utility)
      state.queue = queue
      queue.async { [self] in
        // Readers of the mount come first; the thread that runs this belongs to the library and is not shared.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        work()
        self.state.withLock { $0.cost -= cost }
      }
      return true
    }
  }

  var isUsed: Bool { state.withLock { $0.queue != nil } }

  /// Waits for everything submitted before.
  func wait(atMost limit: Duration) -> Bool {
    guard let queue = state.withLock({ $0.queue }) else { return true }
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    let (seconds, attoseconds) = limit.components
    return done.wait(timeout: .now() + Double(seconds) + Double(attoseconds) / 1e18) == .success
  }
}
