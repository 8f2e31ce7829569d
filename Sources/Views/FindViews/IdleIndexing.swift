internal import Bytes
internal import Glibc
internal import Threads

/// Keeps an index up to date while the machine is idle, on one thread with the lowest priority.
final class IdleIndexing: Sendable {
  private let idleness: Idleness
  private let state = Monitor(State())
  private let runner = ThreadPool(atMost: 1)

  private struct State: Sendable {
    var isStopped = false
    var obstacle: Idleness.Obstacle?
    var checkedAt: ContinuousClock.Instant?
  }

  /// The time between two updates, and between two checks whether the machine is idle.
  private static let pause = Duration.seconds(300)
  private static let interval = Duration.seconds(1)

  init(_ idleness: Idleness) { self.idleness = idleness }

  /// The reason why the work waits. `nil` if it does not.
  var obstacle: Idleness.Obstacle? { state.read { $0.obstacle } }

  /// Updates the index of `search` again and again until `stop`.
  ///
  /// - Parameter search: returns the search. Throws if its index cannot be stored.
  func start(_ search: @escaping @Sendable () throws(Fault) -> OpenSearch) {
    runner.submit { [self] in
      Self.yieldToAll()
      while !waitsInVain(for: .zero) {
        guard isPermitted() else {
          _ = waitsInVain(for: Self.interval)
          continue
        }
        if let search = try? search() { search.updateGently { [self] in isPermitted() } }
        if waitsInVain(for: Self.pause) { return }
      }
    }
  }

  /// Ends the work soon.
  func stop() { state.update { $0.isStopped = true } }

  /// Waits until the work has ended.
  func finish() { runner.stop() }

  /// Returns whether the work may continue now. Examines the machine at most once a second.
  private func isPermitted() -> Bool {
    let isKnown = state.change { state in
      if let last = state.checkedAt, .now - last < Self.interval { return true }
      state.checkedAt = .now
      return false
    }
    if !isKnown {
      let obstacle = idleness.obstacle()
      state.change { $0.obstacle = obstacle }
    }
    return state.read { $0.obstacle == nil || $0.isStopped }
  }

  /// Waits for a time. Returns whether the work has been stopped.
  private func waitsInVain(for time: Duration) -> Bool {
    state.take(within: time, { $0.isStopped ? true : nil }) ?? false
  }

  /// SCHED_IDLE, which Swift's Glibc lacks.
  private static let idlePolicy: Int32 = 5

  /// Lowers the priority of the calling thread below that of all others.
  static func yieldToAll() {
    var parameters = sched_param()
    _ = unsafe sched_setscheduler(0, idlePolicy, &parameters)
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
  }
}
