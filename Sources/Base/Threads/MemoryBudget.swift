internal import Synchronization

/// Bounds the memory of everything that is expensive to make and can be made again: archives' trees, decoded bytes,
/// what was found out about mailboxes.
///
/// Each user counts its memory in a `MemoryShare`. When the budget is used up, the holders evict what is not in use,
/// the one with most first. Thread-safe.
public final class MemoryBudget: Sendable {
  /// In bytes.
  public let capacity: Int
  /// The default for a mount.
  public static let usualCapacity = 256 << 20

  private struct State {
    var used = 0
    var holders: [Holder] = []
  }

  private struct Holder {
    weak var value: (any MemoryHolder)?
  }

  private let state = Mutex(State())

  public init(capacity: Int = usualCapacity) { self.capacity = capacity }

  /// In use at present, in bytes.
  public var used: Int { state.withLock { $0.used } }

  /// Registers `holder` for eviction; must not be called with a lock held that its `release` takes.
  public func add(_ holder: any MemoryHolder) {
    state.withLock { state in
      state.holders.removeAll { $0.value == nil }
      state.holders.append(Holder(value: holder))
    }
  }

  /// Reserves `count` bytes, evicting if necessary. Returns whether that succeeded.
  func take(_ count: Int) -> Bool {
    func isTaken() -> Bool {
      state.withLock { state in
        let (sum, isOver) = state.used.addingReportingOverflow(count)
        guard !isOver, sum <= capacity else { return false }
        state.used = sum
        return true
      }
    }
    // What exceeds the whole budget must not evict others.
    if count > capacity { return false }
    if isTaken() { return true }
    for holder in holders {
      holder.release(count)
      if isTaken() { return true }
    }
    return false
  }

  /// Adjusts the count by `change` bytes that are allocated already, and then evicts if the budget is exceeded.
  func note(_ change: Int) {
    let isOver = state.withLock { state in
      state.used += change
      return change > 0 && state.used > capacity
    }
    guard isOver else { return }
    for holder in holders {
      let surplus = used - capacity
      if surplus <= 0 { return }
      holder.release(surplus)
    }
  }

  /// The one that can release most first.
  private var holders: [any MemoryHolder] {
    let all = state.withLock { $0.holders.compactMap { $0.value } }
    return all.map { ($0, $0.held) }.sorted { $0.1 > $1.1 }.map { $0.0 }
  }
}

/// Holds memory that can be released.
public protocol MemoryHolder: AnyObject, Sendable {
  /// The approximate size that can be released, in bytes.
  var held: Int { get }

  /// Evicts about `count` bytes, or all; least recently used first. Takes the holder's own lock.
  func release(_ count: Int)
}
