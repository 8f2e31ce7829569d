internal import Glibc
internal import Synchronization

/// The thread that handles requests whose readers are blocked.
extension RequestLoop {
  /// The time that a request may wait for a reader, in microseconds, and the number of rounds without a request after
  /// which the watchdog sleeps.
  private static let round: UInt32 = 1000
  private static let quietRounds = 20

  /// The time allowed for the reply to an interrupted request, in rounds.
  private static let grace = 50

  /// Replies EINTR for a reader that is blocked on an interrupted request, so that the calling process can be killed.
  /// The kernel then no longer knows the request and rejects the reader's own reply, as for every interrupted request.
  private func releaseInterrupted() {
    let overdue = withLock { () -> [UInt64] in
      if interrupted.isEmpty { return [] }
      let answering = Set(threads.values.map { $0.question.load(ordering: .acquiring) })
      // Other requests have been answered, or are parked, where libfuse finds them.
      interrupted = interrupted.filter { answering.contains($0.key) }.mapValues { $0 + 1 }
      let overdue = interrupted.filter { $0.value > Self.grace }.map(\.key)
      for number in overdue { interrupted[number] = nil }
      return overdue
    }
    for number in overdue {
      // struct fuse_out_header: u32 length, s32 error, u64 unique.
      let answer = [16 | UInt64(UInt32(bitPattern: -EINTR)) << 32, number]
      _ = unsafe answer.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// Wakes another reader whenever a request is queued, no reader waits for it, and none has received one in the last
  /// round. Sleeps while no requests arrive.
  func runWatchdog() {
    var seen = questions.load(ordering: .relaxed)
    var quiet = 0
    var isProgressing = false
    while !isEnding.load(ordering: .relaxed) {
      // Twice as long while requests are received, since each round costs a context switch.
      _ = usleep(isProgressing ? 2 * Self.round : Self.round)
      let now = questions.load(ordering: .relaxed)
      isProgressing = now != seen
      if !isProgressing, receiving.load(ordering: .relaxed) == 0, hasQuestion() { replaceHeldUp() }
      releaseInterrupted()
      quiet = !isProgressing && receiving.load(ordering: .relaxed) > 0 ? quiet + 1 : 0
      seen = now
      if quiet < Self.quietRounds { continue }
      quiet = 0
      withLock {
        watchdogSleeps.store(true, ordering: .sequentiallyConsistent)
        // A request received before the store could not see it.
        if questions.load(ordering: .sequentiallyConsistent) != seen || !interrupted.isEmpty {
          watchdogSleeps.store(false, ordering: .relaxed)
        }
        while watchdogSleeps.load(ordering: .relaxed), !isEnding.load(ordering: .relaxed) {
          _ = unsafe pthread_cond_wait(watchdogWakes, mutex)
        }
      }
    }
  }

  func wakeWatchdog() {
    withLock {
      watchdogSleeps.store(false, ordering: .relaxed)
      _ = unsafe pthread_cond_signal(watchdogWakes)
    }
  }
}
