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

  /// A process whose memory is counted, and whose seconds pass at once.
  private final class CountedProcess: ProcessHeap {
    private struct State {
      /// The memory in use besides a budget, that which is freed but not returned, and the sizes of a holder.
      var (uncounted, freed) = (0, 0)
      var holder: Holder?
      var (trims, seconds) = (0, 0)
      var events: [Int: @Sendable (CountedProcess) -> Void] = [:]
      var jobs: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    /// The size of the program itself, in MiB.
    private static let program = 30

    var size: Int? { state.withLock { ($0.uncounted + $0.freed + Self.program) << 20 + ($0.holder?.held ?? 0) } }
    var trims: Int { state.withLock { $0.trims } }
    var seconds: Int { state.withLock { $0.seconds } }
    var hasJobs: Bool { state.withLock { !$0.jobs.isEmpty } }

    func trim() { state.withLock { ($0.freed, $0.trims) = (0, $0.trims + 1) } }

    func pause() {
      let event = state.withLock { state in
        state.seconds += 1
        return state.events[state.seconds]
      }
      event?(self)
    }

    func run(_ job: @escaping @Sendable () -> Void) { state.withLock { $0.jobs.append(job) } }

    /// Sets the memory besides that of `holder`, in MiB.
    func set(uncounted: Int, freed: Int, beside holder: Holder? = nil) {
      state.withLock { ($0.uncounted, $0.freed, $0.holder) = (uncounted, freed, holder ?? $0.holder) }
    }

    /// Calls `event` at the end of a second.
    func after(second: Int, _ event: @escaping @Sendable (CountedProcess) -> Void) {
      state.withLock { $0.events[second] = event }
    }

    /// Runs the jobs to their end.
    func finish() {
      let jobs = state.withLock { state in
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in jobs { job() }
    }
  }

  /// Values are bounded by the budget less what the process itself takes.
  @Test func processAtRestIsWithinItsBudget() {
    let process = CountedProcess()
    let budget = MemoryBudget(capacity: 256 << 20, process)
    let holder = Holder(budget, 200 << 20)
    process.set(uncounted: 60, freed: 300, beside: holder)
    #expect(process.hasJobs && process.trims == 0)
    process.finish()
    #expect(process.size == 224 << 20 && holder.held == 134 << 20)
    // What lies within the limit stays.
    let asked = holder.questions.count
    MemoryShare(in: budget).set(to: 5 << 20)
    process.finish()
    #expect(holder.questions.count == asked && process.size == 224 << 20)
  }

  /// What takes more than is counted is evicted, but not all of it.
  @Test func processLargerThanItsBudgetKeepsQuarterOfIt() {
    let process = CountedProcess()
    let holder = Holder(MemoryBudget(capacity: 256 << 20, process), 200 << 20)
    process.set(uncounted: 300, freed: 0, beside: holder)
    process.finish()
    #expect(holder.held == 64 << 20)
  }

  /// Work that is not counted goes on after the last change.
  @Test func memoryFreedLaterIsReturned() {
    let process = CountedProcess()
    let budget = MemoryBudget(capacity: 256 << 20, process)
    MemoryShare(in: budget).set(to: 5 << 20)
    process.set(uncounted: 400, freed: 0)
    process.after(second: 30) { $0.set(uncounted: 10, freed: 390) }
    process.finish()
    #expect(process.size == 40 << 20)
    // Memory in use is not looked at for ever, and not each second.
    process.set(uncounted: 400, freed: 0)
    let (trims, seconds) = (process.trims, process.seconds)
    MemoryShare(in: budget).set(to: 5 << 20)
    process.finish()
    #expect(process.trims - trims < 10 && 60..<200 ~= process.seconds - seconds)
    // A little work has it looked at again.
    process.set(uncounted: 10, freed: 390)
    MemoryShare(in: budget).set(to: 4 << 20)
    process.finish()
    #expect(process.size == 40 << 20)
  }

  /// Memory that is freed between changes is used again.
  @Test func heapIsNotTrimmedDuringChanges() {
    let process = CountedProcess()
    let budget = MemoryBudget(capacity: 256 << 20, process)
    let share = MemoryShare(in: budget)
    share.set(to: 5 << 20)
    for second in 1..<20 {
      process.after(second: second) { process in
        #expect(process.trims == 0)
        share.set(to: 5 << 20 + second)
      }
    }
    process.finish()
    #expect(process.trims == 1 && process.seconds == 20)
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

  @Test func cachesEvictValuesOfOthersBeyondTheBudget() {
    let budget = MemoryBudget(capacity: 100)
    let caches = (0..<2).map { _ in LRUCache<Int, Int>(capacity: 80, budget) }
    for cache in caches { for number in 0..<8 { cache.insert(number, for: number, cost: 10) } }
    #expect(budget.used <= 100 && caches.map(\.held).reduce(0, +) == budget.used && caches[1][7] == 7)
    // A removal makes room for others.
    for cache in caches { cache.removeAll() }
    #expect(budget.used == 0)
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
