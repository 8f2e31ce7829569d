internal import CPosix
internal import Glibc
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
    /// The number of bytes that were given back since the heap was trimmed.
    var freed = 0
    var isTrimming = false
  }

  private struct Holder {
    weak var value: (any MemoryHolder)?
  }

  private let state = Mutex(State())

  /// Trims the heap; nil if this budget does not.
  private let trimmer: Workers?

  /// After so many bytes were given back the heap is trimmed: malloc keeps pages between blocks that are in use.
  private static let trimmedSize = 32 << 20
  /// How long nothing must be given back before that, in microseconds: what is freed in between is used again.
  private static let quietTime: UInt32 = 1_000_000

  /// - Parameter trimsHeap: whether the memory that was given back is returned to the system, by a thread.
  public init(capacity: Int = usualCapacity, trimsHeap: Bool = false) {
    self.capacity = capacity
    trimmer = trimsHeap ? Workers(atMost: 1) : nil
  }

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

  /// Adjusts the count by `change` bytes. Evicts nothing, so a holder may call it with its own lock held.
  func count(_ change: Int) {
    let mustTrim = state.withLock { state -> Bool in
      state.used += change
      if change < 0 { state.freed -= change }
      guard trimmer != nil, state.freed >= Self.trimmedSize, !state.isTrimming else { return false }
      state.isTrimming = true
      return true
    }
    if mustTrim { trimmer?.submit { [weak self] in self?.trim() } }
  }

  private func trim() {
    var seen = 0
    while true {
      _ = usleep(Self.quietTime)
      let isQuiet = state.withLock { state in
        defer { seen = state.freed }
        guard state.freed == seen else { return false }
        (state.freed, state.isTrimming) = (0, false)
        return true
      }
      if isQuiet { return ffmount_trim_heap() }
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
