import Glibc
import Synchronization
import Testing

@testable import FuseLink
@testable import Mount

/// Interruptions at the moments at which two threads may answer one request.
@Suite(.timeLimit(.minutes(5))) struct ParkedRequestTests {
  /// The kernel of a test, which exists only after its file system.
  private final class Late: Sendable {
    private let kernel = Mutex<FakeKernel?>(nil)
    func set(_ new: FakeKernel) { kernel.withLock { $0 = new } }

    func interruptLast() {
      guard let kernel = kernel.withLock({ $0 }) else { return }
      kernel.interrupt(kernel.lastQuestion)
    }
  }

  /// libfuse frees the request with its reply, which another reader may send as soon as the request is registered.
  @Test func requestInterruptedWhileParkedIsNotAccessed() throws {
    let late = Late()
    let waiting = Mutex<[Bool]>([])
    let kernel = try FakeKernel(
      Lookups { request in
        let parked = ParkedRequest(request) { late.interruptLast() }
        let isWaiting = parked.isWaiting
        waiting.withLock { $0.append(isWaiting) }
        parked.take()?.reply(error: ENOENT)
      })
    late.set(kernel)
    for _ in 0..<100 {
      let question = kernel.lookUp("name", in: 1)
      #expect(try kernel.answer(to: question).errno == EINTR)
    }
    #expect(waiting.withLock { $0 } == Array(repeating: false, count: 100))
  }

  /// The kernel's interruption may arrive before the request is parked.
  @Test func requestInterruptedBeforeParkingIsAnsweredOnce() throws {
    let late = Late()
    let kernel = try FakeKernel(
      Lookups { request in
        late.interruptLast()
        let parked = ParkedRequest(request)
        parked.take()?.reply(error: ENOENT)
      })
    late.set(kernel)
    for _ in 0..<100 {
      let question = kernel.lookUp("name", in: 1)
      #expect(try kernel.answer(to: question).errno == EINTR)
    }
  }

  /// The pauses between retries are longer than the test.
  @Test(arguments: [false, true]) func waitingLockIsRetriedAtOnce(isInterrupted: Bool) throws {
    let late = Late()
    let attempts = Mutex((count: 0, isFree: false))
    let ending = Ending()
    let queue = LockQueue(ending, pauses: .seconds(3600) ... .seconds(3600))
    defer {
      ending.come()
      queue.stop()
    }
    let kernel = try FakeKernel(
      Lookups { request in
        queue.answer(request, at: 1, waits: true, releases: false) {
          attempts.withLock { attempts in
            attempts.count += 1
            return attempts.isFree
          }
        }
      })
    late.set(kernel)
    let question = kernel.lookUp("name", in: 1)
    // Once when it arrives, and once more because the lock may have been released meanwhile.
    while attempts.withLock({ $0.count }) < 2 { _ = usleep(1000) }
    // A lock of another file.
    queue.retry(2)
    if isInterrupted {
      late.interruptLast()
    } else {
      attempts.withLock { $0.isFree = true }
      queue.retry(1)
    }
    #expect(try kernel.answer(to: question).errno == (isInterrupted ? EINTR : 0))
    #expect(attempts.withLock { $0.count } == (isInterrupted ? 2 : 3))
  }

  /// The kernel does not wait for RELEASE, so close(2) has returned when a lock of the file has not ended yet. A request
  /// that does not wait for its lock is tried once more.
  @Test(arguments: [false, true]) func locksOfClosedFilesAreNotInTheWay(isReleased: Bool) throws {
    let attempts = Mutex(0)
    let ending = Ending()
    let queue = LockQueue(ending)
    defer {
      ending.come()
      queue.stop()
    }
    let kernel = try FakeKernel(
      Lookups { request in
        queue.answer(request, at: 1, waits: false, releases: false) {
          attempts.withLock { attempts in
            attempts += 1
            return attempts == 2
          }
        }
      })
    if isReleased { kernel.releases.begin() }
    let question = kernel.lookUp("name", in: 1)
    #expect(try kernel.answer(to: question).errno == (isReleased ? 0 : EAGAIN))
    #expect(attempts.withLock { $0 } == (isReleased ? 2 : 1))
  }

  /// A request that gets its lock may give up another one, for which an earlier request waits.
  @Test func grantedLockRetriesOtherRequests() throws {
    let state = Mutex((requests: 0, attempts: 0))
    let ending = Ending()
    let queue = LockQueue(ending, pauses: .seconds(3600) ... .seconds(3600))
    defer {
      ending.come()
      queue.stop()
    }
    let kernel = try FakeKernel(
      Lookups { request in
        let isFirst = state.withLock { state in
          state.requests += 1
          return state.requests == 1
        }
        queue.answer(request, at: 1, waits: true, releases: !isFirst) {
          state.withLock { state in
            // The later request is granted when it is tried again, after the first one in the same round.
            if isFirst { return state.attempts > 1 }
            state.attempts += 1
            return state.attempts > 1
          }
        }
      })
    let questions = [kernel.lookUp("first", in: 1), kernel.lookUp("later", in: 1)]
    for question in questions.reversed() { #expect(try kernel.answer(to: question).errno == 0) }
  }

  /// It is either taken or interrupted, and is not given up again: the owner may have had another lock there before.
  @Test(arguments: [false, true]) func lockIsEitherTakenOrInterrupted(isTaken: Bool) throws {
    let late = Late()
    let attempts = Mutex(0)
    let ending = Ending()
    let queue = LockQueue(ending)
    defer {
      ending.come()
      queue.stop()
    }
    let kernel = try FakeKernel(
      Lookups { request in
        queue.answer(request, at: 1, waits: true, releases: false) {
          let attempt = attempts.withLock { attempts in
            attempts += 1
            return attempts
          }
          if attempt < 3 { return false }
          late.interruptLast()
          return isTaken
        }
      })
    late.set(kernel)
    let question = kernel.lookUp("name", in: 1)
    #expect(try kernel.answer(to: question).errno == (isTaken ? 0 : EINTR))
    _ = usleep(50_000)
    #expect(attempts.withLock { $0 } == 3)
  }
}
