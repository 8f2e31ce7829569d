internal import Synchronization

/// One user's part of a budget, given back with the last reference to it.
///
/// One thread at a time makes it larger; any may ask.
public final class MemoryShare: Sendable {
  public let budget: MemoryBudget
  private let count = Atomic<Int>(0)
  private let refused = Atomic<Int>(0)

  public init(in budget: MemoryBudget) { self.budget = budget }

  deinit { budget.note(-size) }

  /// In bytes.
  public var size: Int { count.load(ordering: .relaxed) }

  /// Whether more was wanted for it than the whole budget: then it is of no use to try again when others have less.
  public var isBeyondAll: Bool { refused.load(ordering: .relaxed) > budget.capacity }

  /// Makes it `size` bytes before they are taken; gives false, and changes nothing, when there is no room for so many.
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

  /// Makes it `size` bytes, which are taken whatever the budget says; others then have to let go.
  public func set(to size: Int) {
    let before = count.exchange(size, ordering: .relaxed)
    budget.note(size - before)
  }
}
