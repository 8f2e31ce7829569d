import Glibc
import Synchronization
import Testing
import Threads

@Suite struct DescriptorBudgetTests {
  /// A process whose open descriptors are counted.
  private final class Table: Sendable {
    private let state: Mutex<(open: Int32, limit: Int32)>
    let failure: Int32

    init(limit: Int32, open: Int32 = 0, failure: Int32 = EMFILE) {
      state = Mutex((open, limit))
      self.failure = failure
    }

    var count: Int { state.withLock { Int($0.open) } }
    var limit: Int { state.withLock { Int($0.limit) } }
    func close() { state.withLock { $0.open -= 1 } }

    /// Returns the lowest free number, as the kernel does where no lower one was closed.
    func open() -> Int32 {
      state.withLock { state in
        guard state.open < state.limit else {
          errno = failure
          return -1
        }
        state.open += 1
        return state.open - 1
      }
    }
  }

  /// Something that holds a descriptor.
  private final class Holder: Sendable {
    private let table: Table
    init(_ table: Table) { self.table = table }
    deinit { table.close() }
  }

  private func fill(_ cache: LRUCache<Int, Holder>, _ keys: Range<Int>, _ budget: DescriptorBudget, _ table: Table) {
    for key in keys where budget.open(table.open) >= 0 { cache.insert(Holder(table), for: key, cost: 1) }
  }

  @Test func oldestAreEvictedAboveFourFifthsOfLimit() {
    let table = Table(limit: 100)
    let budget = DescriptorBudget { table.limit }
    let cache = LRUCache<Int, Holder>(capacity: 1000, budget)
    fill(cache, 0..<80, budget, table)
    #expect(table.count == 80 && cache.count == 80)
    fill(cache, 80..<81, budget, table)
    #expect(cache[0] == nil && cache[79] != nil && cache[80] != nil && table.count == 61)
    fill(cache, 81..<1000, budget, table)
    #expect(table.count <= 81 && cache[999] != nil)
  }

  @Test func largestCacheFreesDescriptorsFirst() {
    let table = Table(limit: 100)
    let budget = DescriptorBudget { table.limit }
    let small = LRUCache<Int, Holder>(capacity: 1000, budget)
    let large = LRUCache<Int, Holder>(capacity: 1000, budget)
    fill(small, 0..<20, budget, table)
    fill(large, 0..<70, budget, table)
    #expect(small.count == 20 && large.count < 70)
  }

  @Test(arguments: [EMFILE, ENFILE]) func failedOpenEvictsDescriptorsAndRetries(_ code: Int32) {
    // The others' descriptors are known to no cache.
    let table = Table(limit: 50, open: 40, failure: code)
    let budget = DescriptorBudget { 1000 }
    let cache = LRUCache<Int, Holder>(capacity: 1000, budget)
    fill(cache, 0..<10, budget, table)
    #expect(table.count == 50)
    #expect(budget.open(table.open) >= 0)
    #expect(cache.count == 7 && cache[0] == nil && cache[9] != nil)
  }

  @Test func openFailsIfNoDescriptorCanBeFreed() {
    let table = Table(limit: 5, open: 5)
    let budget = DescriptorBudget { table.limit }
    #expect(budget.open(table.open) == -1 && errno == EMFILE)
    let other = DescriptorBudget { 100 }
    let calls = Mutex(0)
    let raw = other.open {
      calls.withLock { $0 += 1 }
      errno = ENOENT
      return -1
    }
    #expect(raw == -1 && errno == ENOENT && calls.withLock { $0 } == 1)
  }

  /// A cache that claims to hold descriptors, and frees none.
  @Test func openAttemptsAreLimited() {
    let table = Table(limit: 5, open: 5)
    let budget = DescriptorBudget { table.limit }
    let cache = LRUCache<Int, Int>(capacity: 1000, budget)
    for key in 0..<1000 { cache.insert(key, for: key, cost: 0) }
    #expect(budget.open(table.open) == -1 && errno == EMFILE)
  }
}
