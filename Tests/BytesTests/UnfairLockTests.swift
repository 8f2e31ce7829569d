import Locks
import TestSupport
import Testing

@Suite struct UnfairLockTests {
  /// A sum, and the number of times that a thread got the lock after another one.
  private struct Shared {
    var sum = 0
    var last: Int?
    var handOvers = 0

    mutating func add(_ thread: Int) {
      if last != thread { handOvers += 1 }
      last = thread
      // As long as a short search in a table, by several steps that must not be interrupted.
      for step in 0..<300 where step < sum &+ 300 { sum &+= step & 1 }
    }
  }

  @Test func contendedLockStaysWithTheRunningThread() throws {
    let (threads, count) = (8, 20_000)
    let lock = UnfairLock(Shared())
    try onThreads(threads) { thread in
      for _ in 0..<count { lock.withLock { $0.add(thread) } }
    }
    let shared = lock.withLock { $0 }
    #expect(shared.sum == threads * count * 150)
    // A lock that is passed to waiting threads makes nearly as many hand-overs as there are uses.
    #expect(shared.handOvers < threads * count / 4, "\(shared.handOvers)")
  }

  @Test func sleepingWaitersGetTheLock() throws {
    let (threads, count) = (6, 200)
    let lock = UnfairLock(0)
    try onThreads(threads) { _ in
      for _ in 0..<count {
        // Longer than a waiter tries before it sleeps.
        lock.withLock { number in for step in 0..<20_000 where step & 0x3fff == number & 0x3fff { number += 1 } }
      }
    }
    #expect(lock.withLock { $0 } >= 0)
    #expect(lock.withLockIfAvailable { _ in true } == true)
  }

  @Test func heldLockIsNotAvailable() throws {
    let lock = UnfairLock(1)
    let found = UnfairLock<Int?>(0)
    try lock.withLock { _ in
      try onThreads(1) { _ in found.withLock { $0 = lock.withLockIfAvailable { $0 } } }
    }
    #expect(found.withLock { $0 } == nil)
    #expect(lock.withLockIfAvailable { $0 } == 1)
  }

  private struct Failure: Error, Equatable {}

  @Test func throwingBodyUnlocks() {
    let lock = UnfairLock(1)
    #expect(throws: Failure()) {
      try lock.withLock { number in
        number = 2
        throw Failure()
      }
    }
    #expect(lock.withLockIfAvailable { $0 } == 2)
  }
}
