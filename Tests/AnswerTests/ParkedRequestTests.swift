import Glibc
import Synchronization
import Testing

@testable import FuseLink
@testable import Mount

/// Interruptions at the moments at which two threads may answer one request.
@Suite(.timeLimit(.minutes(1))) struct ParkedRequestTests {
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
        queue.answer(request, waits: true) {
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
