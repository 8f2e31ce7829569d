internal import Bytes
internal import FuseLink
internal import Glibc
internal import Synchronization
internal import Threads

/// A queue of requests that wait for a lock, without a thread for each.
///
/// Unlocks outside the mount cause no event, so waiting requests are retried every 0.5 to 20 ms. An unlock within the
/// mount shortens the interval again.
final class LockQueue: Sendable {
  private struct Waiter: Sendable {
    let parked: ParkedRequest
    let attempt: @Sendable () throws(Fault) -> Bool
  }

  private struct State {
    var waiting: [Waiter] = []
    var isRunning = false
  }

  private let state = Mutex(State())
  /// Whether a lock was released within the mount since the last round.
  private let bell = Mutex(false)
  private let worker = ThreadPool(atMost: 1)
  private let ending: Ending

  /// The limits of the pause between rounds, in microseconds.
  private static let shortestPause: UInt32 = 500
  private static let longestPause: UInt32 = 20_000

  init(_ ending: Ending) { self.ending = ending }

  func stop() { worker.stop() }

  /// Calls `attempt`, which returns whether it got the lock, until it does, or once if the request does not wait. An
  /// interrupted request that got the lock is answered with success. Releasing the lock again could release another
  /// lock of the same owner.
  func answer(
    _ request: consuming Request, waits: Bool, _ attempt: @escaping @Sendable () throws(Fault) -> Bool
  ) {
    do throws(Fault) {
      if try attempt() { return request.reply(error: 0) }
      if !waits { return request.reply(error: EAGAIN) }
    } catch { return request.reply(error: error.errno) }
    let waiter = Waiter(parked: ParkedRequest(request, .left), attempt: attempt)
    let mustStart = state.withLock { state -> Bool in
      state.waiting.append(waiter)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { worker.submit { [self] in run() } }
  }

  /// Records that a lock was released within the mount.
  func lookAgain() { bell.withLock { $0 = true } }

  private func run() {
    var pause = Self.shortestPause
    while !ending.hasCome {
      let waiting = state.withLock { state -> [Waiter] in
        if state.waiting.isEmpty { state.isRunning = false }
        return state.waiting
      }
      if waiting.isEmpty { return }
      for waiter in waiting { look(waiter) }
      let hasRung = bell.withLock { bell -> Bool in
        defer { bell = false }
        return bell
      }
      pause = hasRung ? Self.shortestPause : min(pause * 2, Self.longestPause)
      _ = usleep(pause)
    }
    let left = state.withLock { state -> [Waiter] in
      defer { state.waiting = [] }
      return state.waiting
    }
    // The kernel's own error for requests that it aborts. It would attribute EINTR to a signal, and would
    // return ERESTARTSYS to a caller that got no signal.
    for waiter in left { waiter.parked.take()?.reply(error: ECONNABORTED) }
  }

  private func look(_ waiter: Waiter) {
    do throws(Fault) {
      if waiter.parked.isWaiting {
        guard try waiter.attempt() else { return }
        waiter.parked.take()?.reply(error: 0)
      } else {
        waiter.parked.take()?.reply(error: EINTR)
      }
    } catch { waiter.parked.take()?.reply(error: error.errno) }
    state.withLock { $0.waiting.removeAll { $0.parked === waiter.parked } }
  }
}
