internal import Dispatch
internal import Glibc
internal import Synchronization

/// The index's own thread: work in turn, of which only so much may wait.
final class IndexWriter: Sendable {
  private struct State {
    /// nil before first use.
    var queue: DispatchQueue?
    /// In bytes, of the work that waits or runs.
    var cost = 0
  }

  private let state = Mutex(State())

  private static let costAtMost = 24 << 20
  private static let niceness: Int32 = 5

  /// Gives false when the work is not taken, because too much waits.
  @discardableResult
  func submit(cost: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard cost == 0 || state.cost + cost <= Self.costAtMost else { return false }
      state.cost += cost
      let queue = state.queue ?? DispatchQueue(label: "ffmount.index", qos: .utility)
      state.queue = queue
      queue.async { [self] in
        // Who reads from the mount comes first; the thread that runs this is the library's, and nobody else's.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        work()
        self.state.withLock { $0.cost -= cost }
      }
      return true
    }
  }

  var isUsed: Bool { state.withLock { $0.queue != nil } }

  /// Waits for all that was submitted before.
  func wait(atMost limit: Duration) -> Bool {
    guard let queue = state.withLock({ $0.queue }) else { return true }
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    let (seconds, attoseconds) = limit.components
    return done.wait(timeout: .now() + Double(seconds) + Double(attoseconds) / 1e18) == .success
  }
}
