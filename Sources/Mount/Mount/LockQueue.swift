internal import Bytes
internal import FuseLink
internal import Glibc
internal import Threads

/// A queue of requests that wait for a lock, without a thread for each.
///
/// A request is retried when a lock of its file was released within the mount, or when it was interrupted. Unlocks
/// outside the mount cause no event, so all requests are also retried every 0.5 to 20 ms.
final class LockQueue: Sendable {
  private struct Waiter: Sendable {
    let parked: ParkedRequest
    let file: UInt64
    let releases: Bool
    let attempt: @Sendable () throws(Fault) -> Bool
  }

  private struct State {
    /// The waiting requests by file, in order of arrival.
    var waiting: [UInt64: [Waiter]] = [:]
    /// The files whose requests are to be retried immediately.
    var released: Set<UInt64> = []
    var isRunning = false
  }

  private let state = Monitor(State())
  private let worker = ThreadPool(atMost: 1)
  private let ending: Ending
  /// The limits of the pause between retries of all requests.
  private let pauses: ClosedRange<Duration>

  init(_ ending: Ending, pauses: ClosedRange<Duration> = .microseconds(500) ... .milliseconds(20)) {
    self.ending = ending
    self.pauses = pauses
  }

  /// Stops the thread and waits for it. Must be called after the end has come.
  func stop() {
    state.update { _ in }
    worker.stop()
  }

  /// Calls `attempt`, which returns whether it got the lock, until it does, or once if the request does not wait. An
  /// interrupted request that got the lock is answered with success. Releasing the lock again could release another
  /// lock of the same owner.
  ///
  /// - Parameters:
  ///   - file: the number by which `retry` names the file.
  ///   - releases: whether the request may release a lock that the owner has.
  func answer(
    _ request: consuming Request, at file: UInt64, waits: Bool, releases: Bool,
    _ attempt: @escaping @Sendable () throws(Fault) -> Bool
  ) {
    do throws(Fault) {
      var isSet = try attempt()
      // The lock in the way may be of a file that has just been closed.
      if !isSet, !waits, request.awaitReleases() { isSet = try attempt() }
      if releases { retry(file) }
      if isSet { return request.reply(error: 0) }
      if !waits { return request.reply(error: EAGAIN) }
    } catch { return request.reply(error: error.errno) }
    let waiter = Waiter(parked: ParkedRequest(request, .left), file: file, releases: releases, attempt: attempt)
    waiter.parked.whenInterrupted { [weak self] in self?.retry(file) }
    let mustStart = state.update { state -> Bool in
      state.waiting[file, default: []].append(waiter)
      // The lock may have been released since the attempt.
      state.released.insert(file)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { worker.submit { [self] in run() } }
  }

  /// Retries the requests of a file, of which a lock may have been released. Does not block.
  func retry(_ file: UInt64) {
    state.update { state in
      if state.waiting[file] != nil { state.released.insert(file) }
    }
  }

  private func run() {
    var pause = pauses.lowerBound
    var next = ContinuousClock.now + pause
    while !ending.hasCome {
      // Nil after the pause.
      let released = state.take(within: max(.zero, next - .now)) { state -> Set<UInt64>? in
        if state.released.isEmpty, !state.waiting.isEmpty, !ending.hasCome { return nil }
        defer { state.released = [] }
        return state.released
      }
      let waiting = state.change { state -> [Waiter]? in
        if state.waiting.isEmpty {
          state.isRunning = false
          return nil
        }
        return (released ?? Set(state.waiting.keys)).flatMap { state.waiting[$0] ?? [] }
      }
      guard let waiting else { return }
      for waiter in waiting { attempt(waiter) }
      pause = released == nil ? min(pause * 2, pauses.upperBound) : pauses.lowerBound
      next = released == nil ? .now + pause : min(next, .now + pause)
    }
    let left = state.change { state -> [Waiter] in
      defer { state.waiting = [:] }
      return state.waiting.values.flatMap { $0 }
    }
    // The kernel's own error for requests that it aborts. It would attribute EINTR to a signal, and would
    // return ERESTARTSYS to a caller that got no signal.
    for waiter in left { waiter.parked.take()?.reply(error: ECONNABORTED) }
  }

  private func attempt(_ waiter: Waiter) {
    do throws(Fault) {
      if waiter.parked.isWaiting {
        guard try waiter.attempt() else { return }
        if waiter.releases { retry(waiter.file) }
        waiter.parked.take()?.reply(error: 0)
      } else {
        waiter.parked.take()?.reply(error: EINTR)
      }
    } catch { waiter.parked.take()?.reply(error: error.errno) }
    state.change { state in
      state.waiting[waiter.file]?.removeAll { $0.parked === waiter.parked }
      if state.waiting[waiter.file]?.isEmpty ?? false { state.waiting[waiter.file] = nil }
    }
  }
}
