import Bytes
import Glibc
import Synchronization
import Testing
import Threads

@Suite(.timeLimit(.minutes(5))) struct InterestTests {
  private final class Flag: Sendable {
    private let state = Atomic<Bool>(false)
    var isUp: Bool { state.load(ordering: .sequentiallyConsistent) }
    func raise() { state.store(true, ordering: .sequentiallyConsistent) }
    func wait() { while !isUp { _ = usleep(500) } }
  }

  @Test func workWithoutTokenIsNotCancelled() throws { try CancellationToken.check() }

  @Test func checkThrowsAfterCancellationOnlyInsideScope() throws {
    let gone = Flag()
    let caught = try CancellationToken { !gone.isUp }.run { () -> Result<Fault?, any Error> in
      Result {
        try CancellationToken.check()
        gone.raise()
        do { try CancellationToken.check() } catch let fault as Fault { return fault }
        return nil
      }
    }.get()
    #expect(caught == .interrupted)
    #expect(caught?.isDelay == true)
    try CancellationToken.check()
  }

  @Test func innerTokenReplacesOuterAndRestoresIt() {
    let lost = CancellationToken { false }
    let held = CancellationToken { true }
    let seen = lost.run { () -> [Bool] in
      let inner = held.run { CancellationToken.current?.isLost ?? true }
      return [inner, CancellationToken.current?.isLost ?? false]
    }
    #expect(seen == [false, true])
  }

  /// Runs `body` on another thread; the flag is raised when it is done.
  private func elsewhere(_ workers: ThreadPool, _ body: @escaping @Sendable () -> Void) -> Flag {
    let done = Flag()
    workers.submit {
      body()
      done.raise()
    }
    return done
  }

  @Test func lockWaitEndsWhenReaderCancels() async throws {
    let workers = ThreadPool(atMost: 2)
    let lock = CancellableLock()
    let (gone, locked, free) = (Flag(), Flag(), Flag())
    let fault = Mutex<Fault?>(nil)
    _ = elsewhere(workers) {
      try? lock.lock()
      locked.raise()
      free.wait()
      lock.unlock()
    }
    while !locked.isUp { try await Task.sleep(for: .milliseconds(1)) }
    let done = elsewhere(workers) {
      CancellationToken { !gone.isUp }.run {
        do throws(Fault) { try lock.lock() } catch { fault.withLock { [error] in $0 = error } }
      }
    }
    gone.raise()
    while !done.isUp { try await Task.sleep(for: .milliseconds(1)) }
    #expect(fault.withLock { $0 } == .interrupted)
    do throws(Fault) {
      try lock.lock(.immediate)
      Issue.record("the lock is held")
    } catch { #expect(error == .later) }
    free.raise()
    workers.stop()
    try lock.lock(.immediate)
    lock.unlock()
  }

  @Test func lockHolderContinuesWhileOthersWait() async throws {
    let workers = ThreadPool(atMost: 2)
    let lock = CancellableLock()
    let (first, second, locked, seen) = (Flag(), Flag(), Flag(), Flag())
    let kept = Mutex<[Bool]>([])
    let holder = elsewhere(workers) {
      CancellationToken { !first.isUp }.run {
        try? lock.lock()
        locked.raise()
        first.wait()
        // The first reader has gone, and another waits.
        kept.withLock { $0.append(CancellationToken.current?.isLost ?? true) }
        seen.raise()
        second.wait()
        kept.withLock { $0.append(CancellationToken.current?.isLost ?? true) }
        lock.unlock()
      }
    }
    while !locked.isUp { try await Task.sleep(for: .milliseconds(1)) }
    let waiter = elsewhere(workers) {
      CancellationToken { !second.isUp }.run { if (try? lock.lock()) != nil { lock.unlock() } }
    }
    // It is waiting by now, or soon.
    try await Task.sleep(for: .milliseconds(50))
    first.raise()
    while !seen.isUp { try await Task.sleep(for: .milliseconds(1)) }
    second.raise()
    while !holder.isUp || !waiter.isUp { try await Task.sleep(for: .milliseconds(1)) }
    #expect(kept.withLock { $0 } == [false, true])
    workers.stop()
  }

  /// At any point within a second when the wait begins.
  @Test func timedWaitLastsAtLeastItsTimeout() {
    let never = Monitor(0)
    for _ in 0..<5 {
      let start = ContinuousClock.now
      let taken: Int? = never.take(within: .milliseconds(230)) { _ in nil }
      #expect(taken == nil && ContinuousClock.now - start >= .milliseconds(229))
    }
  }

  @Test func blockedThreadsDoNotCountTowardsPoolLimit() async throws {
    let workers = ThreadPool(atMost: 2, evenHeldUp: 40)
    let free = Flag()
    let stuck = Monitor(0)
    for _ in 0..<20 {
      workers.submit {
        stuck.update { $0 += 1 }
        _ = stuck.take(within: .seconds(50)) { _ in free.isUp ? true : nil }
      }
    }
    // All have started, although only two may run at a time.
    while stuck.read({ $0 }) < 20 { try await Task.sleep(for: .milliseconds(5)) }
    let done = elsewhere(workers) {}
    while !done.isUp { try await Task.sleep(for: .milliseconds(5)) }
    #expect((20...40).contains(workers.count))
    free.raise()
    stuck.update { $0 += 1 }
    while workers.count > 2 { try await Task.sleep(for: .milliseconds(5)) }
    workers.stop()
    #expect(workers.count == 0)
  }

  @Test func runningThreadsCountTowardsPoolLimit() async throws {
    let workers = ThreadPool(atMost: 2, evenHeldUp: 40)
    let (free, next) = (Flag(), Flag())
    for _ in 0..<2 { workers.submit { while !free.isUp {} } }
    workers.submit { next.raise() }
    try await Task.sleep(for: .milliseconds(200))
    #expect(workers.count <= 2 && !next.isUp)
    free.raise()
    while !next.isUp { try await Task.sleep(for: .milliseconds(1)) }
    workers.stop()
  }

  @Test func waiterCountIncludesRecentlyAnsweredWaiters() throws {
    let short = WaiterCount(staying: 0)
    #expect(!short.isThere)
    let isThere = try short.waits { () throws(Fault) in short.isThere }
    #expect(isThere)
    #expect(!short.isThere)
    let long = WaiterCount(staying: 600)
    do throws(Fault) { try long.waits { () throws(Fault) in throw .interrupted } } catch {
      #expect(error == .interrupted)
    }
    #expect(!long.isThere)
    try long.waits { () throws(Fault) in }
    #expect(long.isThere)
  }
}
