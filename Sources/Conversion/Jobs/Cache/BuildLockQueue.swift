internal import Glibc
internal import Locks
internal import Threads

/// A queue of tasks that wait for build locks without a thread each.
///
/// Unlocking on another machine causes no event, so requests are repeated, first after 5 ms and later every 200 ms.
final class BuildLockQueue: Sendable {
  private struct Waiter: Sendable {
    let request: BuildLockRequest
    let isWanted: @Sendable () -> Bool
    let resume: @Sendable () -> Void
  }

  private struct State {
    var waiting: [Waiter] = []
    var isRunning = false
    var isStopped = false
  }

  private let state = UnfairLock(State())
  private let worker = ThreadPool(atMost: 1)

  /// The shortest pause between attempts, in microseconds.
  private static let shortestPause: UInt32 = 5_000
  private static let longestPause: UInt32 = 200_000

  /// Calls `resume` once: when the request is granted, when `isWanted` returns false, or when the queue stops.
  func wait(
    _ request: BuildLockRequest, while isWanted: @escaping @Sendable () -> Bool,
    _ resume: @escaping @Sendable () -> Void
  ) {
    let (isTaken, mustStart) = state.withLock { state -> (Bool, Bool) in
      guard !state.isStopped else { return (false, false) }
      state.waiting.append(Waiter(request: request, isWanted: isWanted, resume: resume))
      defer { state.isRunning = true }
      return (true, !state.isRunning)
    }
    if !isTaken { return resume() }
    if mustStart { worker.submit { [self] in run() } }
  }

  /// Resumes all tasks. Blocks until that is done.
  func stop() {
    state.withLock { $0.isStopped = true }
    worker.stop()
    resume(
      state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      })
  }

  private func run() {
    var pause = Self.shortestPause
    while true {
      _ = usleep(pause)
      let waiting = state.withLock { state -> [Waiter] in
        if state.isStopped || state.waiting.isEmpty { state.isRunning = false }
        return state.isRunning ? state.waiting : []
      }
      if waiting.isEmpty { return }
      let ready = waiting.filter { !$0.isWanted() || $0.request.isGrantedNow() }
      pause = ready.isEmpty ? min(pause * 2, Self.longestPause) : Self.shortestPause
      state.withLock { state in
        state.waiting.removeAll { waiter in ready.contains { $0.request === waiter.request } }
      }
      resume(ready)
    }
  }

  private func resume(_ waiters: [Waiter]) { for waiter in waiters { waiter.resume() } }
}
