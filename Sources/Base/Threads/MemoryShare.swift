internal import Synchronization

/// One user's part of a budget, returned to it on deinit.
///
/// Only one thread at a time may grow it; any may read it.
public final class MemoryShare: Sendable {
  public let budget: MemoryBudget
  private let count = Atomic<Int>(0)
  private let refused = Atomic<Int>(0)

  public init(in budget: MemoryBudget) { self.budget = budget }

  deinit { budget.count(-size) }

  /// In bytes.
  public var size: Int { count.load(ordering: .relaxed) }

  /// Whether the last refused size exceeds the whole budget: then retrying is useless even when others release memory.
  public var isBeyondAll: Bool { refused.load(ordering: .relaxed) > budget.capacity }

  /// Reserves up to `size` bytes, before they are allocated; returns false, and changes nothing, when the budget has no
  /// room.
  public func grow(to size: Int) -> Bool {
    let more = size - self.size
    if more <= 0 { return true }
    guard size <= budget.capacity, budget.take(more) else {
      refused.store(size, ordering: .relaxed)
      return false
    }
    count.add(more, ordering: .relaxed)
    return true
  }

  /// Sets it to `size` bytes whatever the budget says; others are then evicted.
  public func set(to size: Int) {
    record(size)
    budget.settle()
  }

  /// Sets it to `size` bytes and evicts nothing. A holder calls it with the lock held under which its size changed, so that
  /// the reports of two threads arrive in the order of their changes, and `budget.settle` without that lock.
  func record(_ size: Int) {
    let before = count.exchange(size, ordering: .relaxed)
    budget.count(size - before)
  }
}
