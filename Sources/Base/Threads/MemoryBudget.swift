internal import Locks

/// A bound on the memory of everything that is expensive to create and can be recreated: archives' trees, decoded
/// bytes, information about mailboxes.
///
/// Each user counts its memory in a `MemoryShare`. When the budget is used up, the holders evict unused values, the
/// largest holder first. Thread-safe.
public final class MemoryBudget: Sendable {
  /// The maximum size of the memory, in bytes.
  public let capacity: Int
  /// The default capacity for a mount.
  public static let usualCapacity = 256 << 20

  private struct State {
    var used = 0
    var holders: [Holder] = []
    /// The number of bytes taken and freed since the process was within its limit. What is taken is often collected in
    /// memory that is freed uncounted.
    var changed = 0
    /// The value of `changed` a second ago.
    var seen = 0
    /// The time without changes, in seconds, and that after which the heap is trimmed again.
    var (quiet, due) = (0, 1)
    var isTrimming = false
  }

  private struct Holder {
    weak var value: (any MemoryHolder)?
  }

  private let state = UnfairLock(State())

  /// The process that is kept within the budget. Nil if none is.
  private let process: (any ProcessHeap)?

  /// The number of bytes after which the heap is trimmed. malloc keeps pages between blocks that are in use.
  private static let trimmedSize = 4 << 20
  /// The maximum time without changes, in seconds, in which the heap of a process above its limit is trimmed again.
  private static let longestTime = 64

  /// The size to which a process at rest is reduced, in bytes: the program itself takes some.
  private var limit: Int { max(capacity / 8 * 7, 64 << 20) }

  /// - Parameter trimsHeap: Whether a thread returns freed memory to the system, and evicts values while the process
  ///   takes more than the budget.
  public convenience init(capacity: Int = usualCapacity, trimsHeap: Bool = false) {
    self.init(capacity: capacity, trimsHeap ? OwnHeap() : nil)
  }

  package init(capacity: Int, _ process: (any ProcessHeap)?) {
    self.capacity = capacity
    self.process = process
  }

  /// The memory currently in use, in bytes.
  public var used: Int { state.withLock { $0.used } }

  /// Registers `holder` for eviction. Must not be called with a lock held that its `release` takes.
  public func add(_ holder: any MemoryHolder) {
    state.withLock { state in
      state.holders.removeAll { $0.value == nil }
      state.holders.append(Holder(value: holder))
    }
  }

  /// Reserves `count` bytes, evicting if necessary. Returns whether that succeeded.
  func take(_ count: Int) -> Bool {
    func isTaken() -> Bool {
      change { state in
        let (sum, isOver) = state.used.addingReportingOverflow(count)
        guard !isOver, sum <= capacity else { return false }
        state.used = sum
        return true
      }
    }
    // A request that exceeds the whole budget must not evict others.
    if count > capacity { return false }
    if isTaken() { return true }
    for holder in holders {
      holder.release(count)
      if isTaken() { return true }
    }
    return false
  }

  /// Adjusts the count by `change` bytes. Evicts nothing, so a holder may call it with its own lock held.
  func count(_ change: Int) {
    self.change { $0.used += change }
  }

  /// Changes the state with `body`. Lets the heap be trimmed if many bytes have changed.
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, mustTrim) = state.withLock { state in
      let before = state.used
      let result = body(&state)
      state.changed += abs(state.used - before)
      guard process != nil, state.changed >= Self.trimmedSize, !state.isTrimming else { return (result, false) }
      state.isTrimming = true
      return (result, true)
    }
    if mustTrim, let process {
      process.run { [weak self] in
        repeat { process.pause() } while self?.trim(process) ?? false
      }
    }
    return result
  }

  /// Shrinks the process after a second without changes, because memory that is freed before is used again. Repeats that
  /// at growing intervals while the process is too large: uncounted work may continue. Returns whether a second later the
  /// next call is needed.
  private func trim(_ process: any ProcessHeap) -> Bool {
    let isDue = state.withLock { state in
      if state.changed != state.seen {
        (state.seen, state.quiet, state.due) = (state.changed, 0, 1)
        return false
      }
      state.quiet += 1
      return state.quiet >= state.due
    }
    if !isDue { return true }
    let isSmall = shrink(process)
    return state.withLock { state in
      state.due *= 2
      if state.changed != state.seen || !isSmall && state.due <= Self.longestTime { return true }
      (state.changed, state.seen, state.isTrimming) = (0, 0, false)
      return false
    }
  }

  /// Returns freed memory to the system. Evicts values, which may take more than is counted or lie between freed ones,
  /// down to a quarter of the budget: the rest may be of uncounted use. Returns whether the process is within its limit.
  private func shrink(_ process: any ProcessHeap) -> Bool {
    process.trim()
    for holder in holders {
      guard let size = process.size else { return true }
      let surplus = min(size - limit, used - capacity / 4)
      if surplus <= 0 { break }
      holder.release(surplus)
      process.trim()
    }
    return process.size.map { $0 <= limit } ?? true
  }

  /// Evicts while the budget is exceeded. Must not be called with a lock held that a holder's `release` takes.
  func settle() {
    if used <= capacity { return }
    for holder in holders {
      let surplus = used - capacity
      if surplus <= 0 { return }
      holder.release(surplus)
    }
  }

  /// The holders, the one that can release the most first.
  private var holders: [any MemoryHolder] {
    let all = state.withLock { $0.holders.compactMap { $0.value } }
    return all.map { ($0, $0.held) }.sorted { $0.1 > $1.1 }.map { $0.0 }
  }
}

/// An owner of memory that can be released.
public protocol MemoryHolder: AnyObject, Sendable {
  /// The approximate size that can be released, in bytes.
  var held: Int { get }

  /// Evicts about `count` bytes, or all, the least recently used first. Takes the holder's own lock.
  func release(_ count: Int)
}
