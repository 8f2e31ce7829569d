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

  /// The size in bytes.
  public var size: Int { count.load(ordering: .relaxed) }

  /// Whether the last refused size exceeds the whole budget. Retrying is then useless even if others release memory.
  public var isBeyondAll: Bool { refused.load(ordering: .relaxed) > budget.capacity }

  /// Reserves up to `size` bytes before they are allocated. Returns false, and changes nothing, if they exceed the
  /// budget.
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

  /// Sets the share to `size` bytes, even beyond the budget. Others are then evicted.
  public func set(to size: Int) {
    record(size)
    budget.settle()
  }

  /// Sets the share to `size` bytes and evicts nothing.
  ///
  /// A holder calls it with the lock held under which its size changed, so that the reports of two threads arrive in
  /// the order of their changes. It calls `budget.settle` without that lock.
  func record(_ size: Int) {
    let before = count.exchange(size, ordering: .relaxed)
    budget.count(size - before)
  }
}
