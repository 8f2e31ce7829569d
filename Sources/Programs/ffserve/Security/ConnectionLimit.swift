import Synchronization

/// How many connections there may be at a time.
final class ConnectionLimit: Sendable {
  private let most: Int
  private let open = Atomic<Int>(0)

  init(_ most: Int) { self.most = most }

  var count: Int { open.load(ordering: .relaxed) }

  /// Whether so many are open that those that wait for nothing are to make room.
  var isNear: Bool { count > most / 4 * 3 }

  /// Counts one; false if there are too many.
  func enter() -> Bool {
    if open.add(1, ordering: .relaxed).newValue <= most { return true }
    open.subtract(1, ordering: .relaxed)
    return false
  }

  func leave() { open.subtract(1, ordering: .relaxed) }
}
