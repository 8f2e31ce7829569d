internal import Synchronization

/// How much memory may be taken by all that was dear to make and can be made again: archives' trees, decoded bytes, what was
/// found out of mailboxes.
///
/// Whoever has some counts it in a `MemoryShare`. Where there is no room left, the holders let go of what is kept for nobody,
/// the one that has most first. For several threads at a time.
public final class MemoryBudget: Sendable {
  /// In bytes.
  public let capacity: Int
  /// What a mount has, if nobody says otherwise.
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

  /// What is taken now, in bytes.
  public var used: Int { state.withLock { $0.used } }

  /// Asks `holder` to let go from now on; must not be called with a lock that its `release` takes.
  public func add(_ holder: any MemoryHolder) {
    state.withLock { state in
      state.holders.removeAll { $0.value == nil }
      state.holders.append(Holder(value: holder))
    }
  }

  /// Takes `count` bytes if there is room for them, or somebody makes it. Gives whether there was.
  func take(_ count: Int) -> Bool {
    func isTaken() -> Bool {
      state.withLock { state in
        let (sum, isOver) = state.used.addingReportingOverflow(count)
        guard !isOver, sum <= capacity else { return false }
        state.used = sum
        return true
      }
    }
    // What could not be had alone is not worth what others have.
    if count > capacity { return false }
    if isTaken() { return true }
    for holder in holders {
      holder.release(count)
      if isTaken() { return true }
    }
    return false
  }

  /// Counts `change` bytes more or less that are there already, and then makes room where there are too many.
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

  /// The one that could let go of most first.
  private var holders: [any MemoryHolder] {
    let all = state.withLock { $0.holders.compactMap { $0.value } }
    return all.map { ($0, $0.held) }.sorted { $0.1 > $1.1 }.map { $0.0 }
  }
}

/// What has memory that it can do without.
public protocol MemoryHolder: AnyObject, Sendable {
  /// About how much that is, in bytes.
  var held: Int { get }

  /// Lets go of about `count` bytes, or of all; what was used longest ago first. Takes the holder's own lock.
  func release(_ count: Int)
}
