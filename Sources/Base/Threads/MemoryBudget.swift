internal import CPosix
internal import Glibc
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
    /// The number of bytes taken and freed since the heap was trimmed. What is taken is often collected in memory that is
    /// freed uncounted.
    var changed = 0
    var isTrimming = false
  }

  private struct Holder {
    weak var value: (any MemoryHolder)?
  }

  private let state = UnfairLock(State())

  /// The thread that keeps the process within the budget. Nil if this budget does not.
  private let trimmer: ThreadPool?

  /// The number of bytes after which the heap is trimmed. malloc keeps pages between blocks that are in use.
  private static let trimmedSize = 32 << 20
  /// The time without changes before the heap is trimmed, in microseconds. Memory that is freed before is used again.
  private static let quietTime: UInt32 = 1_000_000

  /// The share of the capacity that the process may take besides its files, in eighths, and the least size to which
  /// it is reduced, in bytes: the program itself takes some.
  private static let mostOfProcess = (eighths: 7, least: 64 << 20)

  /// - Parameter trimsHeap: Whether a thread returns freed memory to the system, and evicts values while the process
  ///   takes more than the budget.
  public init(capacity: Int = usualCapacity, trimsHeap: Bool = false) {
    self.capacity = capacity
    trimmer = trimsHeap ? ThreadPool(atMost: 1) : nil
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
      guard trimmer != nil, state.changed >= Self.trimmedSize, !state.isTrimming else { return (result, false) }
      state.isTrimming = true
      return (result, true)
    }
    if mustTrim { trimmer?.submit { [weak self] in self?.trim() } }
    return result
  }

  private func trim() {
    var seen = 0
    while true {
      _ = usleep(Self.quietTime)
      let isQuiet = state.withLock { state in
        defer { seen = state.changed }
        guard state.changed == seen else { return false }
        (state.changed, state.isTrimming) = (0, false)
        return true
      }
      if isQuiet { return shrink() }
    }
  }

  /// Returns freed memory to the system. Evicts values, which may take more than is counted or lie between freed ones,
  /// but not more than half of the budget: the rest may be of uncounted use.
  private func shrink() {
    ffmount_trim_heap()
    let limit = max(capacity / 8 * Self.mostOfProcess.eighths, Self.mostOfProcess.least)
    for holder in holders {
      guard let memory = OwnMemory.now else { return }
      let surplus = min(memory.anonymous - limit, used - capacity / 2)
      if surplus <= 0 { return }
      holder.release(surplus)
      ffmount_trim_heap()
    }
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
