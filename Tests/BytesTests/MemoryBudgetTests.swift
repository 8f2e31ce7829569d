import Foundation
import Synchronization
import Testing
import Threads

@Suite struct MemoryBudgetTests {
  /// Frees its memory on request, and records the requests.
  private final class Holder: MemoryHolder {
    let share: MemoryShare
    private let asked = Mutex<[Int]>([])

    init(_ budget: MemoryBudget, _ size: Int) {
      share = MemoryShare(in: budget)
      share.set(to: size)
      budget.add(self)
    }

    var held: Int { share.size }
    var questions: [Int] { asked.withLock { $0 } }

    func release(_ count: Int) {
      asked.withLock { $0.append(count) }
      share.set(to: max(0, share.size - count))
    }
  }

  @Test func memorySharesAreCountedUntilReleased() {
    let budget = MemoryBudget(capacity: 100)
    var share: MemoryShare? = MemoryShare(in: budget)
    #expect(share?.grow(to: 60) == true && share?.grow(to: 40) == true && budget.used == 60)
    let other = MemoryShare(in: budget)
    #expect(!other.grow(to: 41) && !other.isBeyondAll && budget.used == 60)
    #expect(!other.grow(to: 101) && other.isBeyondAll)
    share = nil
    #expect(budget.used == 0 && other.grow(to: 100))
    other.set(to: 7)
    #expect(budget.used == 7)
  }

  /// Memory that is not counted is freed by the work that takes counted memory.
  @Test func heapIsTrimmedAfterMemoryWasTaken() throws {
    func resident() throws -> Int {
      let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      return 4096 * (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
    }
    let budget = MemoryBudget(trimsHeap: true)
    let share = MemoryShare(in: budget)
    // Blocks that stay keep malloc from returning the others by itself.
    var blocks = (0..<75_000).map { _ in [UInt8](repeating: 1, count: 4000) }
    let kept = stride(from: 0, to: blocks.count, by: 100).map { blocks[$0] }
    blocks = []
    let before = try resident()
    share.set(to: 40 << 20)
    for _ in 0..<100 where try resident() > before - (150 << 20) { _ = usleep(100_000) }
    #expect(try resident() <= before - (150 << 20))
    withExtendedLifetime(kept) {}
  }

  /// What takes more than is counted is evicted, but not all of it.
  @Test func processLargerThanItsBudgetEvictsHalf() {
    let budget = MemoryBudget(capacity: 128 << 20, trimsHeap: true)
    let uncounted = [UInt8](repeating: 1, count: 160 << 20)
    let holder = Holder(budget, 100 << 20)
    for _ in 0..<100 where budget.used > 64 << 20 { _ = usleep(100_000) }
    #expect(holder.held == 64 << 20 && uncounted.last == 1)
  }

  @Test func largestHolderIsEvictedFirst() {
    let budget = MemoryBudget(capacity: 100)
    let (small, large) = (Holder(budget, 30), Holder(budget, 60))
    let share = MemoryShare(in: budget)
    #expect(share.grow(to: 10) && large.questions == [])
    #expect(share.grow(to: 40))
    #expect(large.questions == [30] && small.questions == [] && budget.used == 100)
    // All other shares together are not enough: the holder that cannot free anything does not prevent the growth.
    #expect(share.grow(to: 100) && budget.used == 100 && small.share.size + large.share.size == 0)
  }

  @Test func requestAboveCapacityEvictsNoHolder() {
    let budget = MemoryBudget(capacity: 100)
    let holder = Holder(budget, 60)
    let share = MemoryShare(in: budget)
    #expect(!share.grow(to: 101) && holder.questions == [])
  }

  @Test func settingShareEvictsOtherHolders() {
    let budget = MemoryBudget(capacity: 100)
    let holder = Holder(budget, 60)
    let share = MemoryShare(in: budget)
    share.set(to: 90)
    #expect(holder.questions == [50] && budget.used == 100)
  }

  @Test func cachesShrinkForSharesAndRemainUsable() {
    let budget = MemoryBudget(capacity: 100)
    let cache = LRUCache<Int, Int>(capacity: 80, budget)
    for number in 0..<8 { cache.insert(number, for: number, cost: 10) }
    #expect(budget.used == 80)
    var share: MemoryShare? = MemoryShare(in: budget)
    #expect(share?.grow(to: 60) == true)
    // The most recently used ones are left.
    #expect((0..<8).filter { cache[$0] != nil } == [6, 7] && budget.used <= 100)
    #expect(share?.grow(to: 100) == true && cache[7] == nil)
    share = nil
    cache.insert(9, for: 9, cost: 10)
    #expect(cache[9] == 9 && budget.used == 10)
  }
}
