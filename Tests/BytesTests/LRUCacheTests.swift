import Glibc
import TestSupport
import Testing
import Threads

@Suite struct LRUCacheTests {
  /// The most recently used three quarters are kept.
  @Test func fullCacheEvictsLeastRecentlyUsedValues() {
    let cache = LRUCache<Int, Int>(capacity: 100)
    for key in 0..<10 { cache.insert(key, for: key, cost: 10) }
    #expect((0..<10).allSatisfy { cache[$0] == $0 })
    #expect(cache[0] == 0)
    cache.insert(10, for: 10, cost: 10)
    #expect((0...10).filter { cache[$0] != nil } == [0, 5, 6, 7, 8, 9, 10])
    #expect(cache.held == 70)
  }

  /// A value that takes long to be released, and then looks at the cache.
  private final class Slow: Sendable {
    let cache: LRUCache<Int, Slow>
    private let pause: UInt32

    init(_ cache: LRUCache<Int, Slow>, pause: UInt32) { (self.cache, self.pause) = (cache, pause) }

    deinit {
      _ = usleep(pause)
      _ = cache.held
    }
  }

  @Test func valuesAreReleasedOutsideTheLock() {
    let budget = MemoryBudget(capacity: 50)
    let cache = LRUCache<Int, Slow>(capacity: 100, budget)
    for key in 0..<20 { cache.insert(Slow(cache, pause: 100), for: key, cost: 10) }
    cache.insert(Slow(cache, pause: 0), for: 19, cost: 10)
    cache.removeValue(for: 19)
    cache.removeAll()
    #expect(budget.used == 0 && cache.held == 0)
  }

  /// The report of one thread must not overtake that of another, or the budget counts what the cache no longer holds.
  @Test func budgetMatchesCacheSize() throws {
    let budget = MemoryBudget(capacity: 1 << 40)
    let cache = LRUCache<Int, [UInt8]>(capacity: 1 << 40, budget)
    for _ in 0..<200 {
      try onThreads(4) { thread in
        for round in 0..<50 {
          let key = thread * 1000 + round
          cache.insert([], for: key, cost: 10)
          if round.isMultiple(of: 2) { cache.removeValue(for: key) }
          if round == 49, thread == 0 { cache.release(1000) }
        }
      }
      #expect(budget.used == cache.held)
    }
  }

  @Test func removeAllRemovesMatchingKeys() {
    let budget = MemoryBudget(capacity: 1000)
    let cache = LRUCache<Int, Int>(capacity: 1000, budget)
    for key in 0..<10 { cache.insert(key, for: key, cost: 10) }
    // More keys than values, and fewer.
    cache.removeAll(of: 5..<1_000_000) { $0 >= 5 }
    #expect((0..<10).filter(cache.holds) == [0, 1, 2, 3, 4] && budget.used == 50)
    cache.removeAll(of: 3..<5) { (3..<5).contains($0) }
    #expect((0..<10).filter(cache.holds) == [0, 1, 2] && budget.used == 30)
    cache.insert(7, for: 0, cost: 20)
    #expect(cache[0] == 7 && budget.used == 40)
  }
}
