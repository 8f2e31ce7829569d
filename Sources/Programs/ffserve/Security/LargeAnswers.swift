import Locks

/// A limit on the memory of all responses being sent, so that clients that do not read cannot exhaust it.
final class LargeAnswers: Sendable {
  private let capacity: Int
  private let held = UnfairLock(0)

  /// The maximum size of a response that is not counted, in bytes.
  static let uncounted = 128 << 10

  /// - Parameter capacity: the limit, in bytes.
  init(_ capacity: Int) { self.capacity = capacity }

  /// Reserves memory. Returns `false` if the limit is reached. A single response is always permitted.
  func take(_ count: Int) -> Bool {
    held.withLock { held in
      guard held == 0 || held + count <= capacity else { return false }
      held += count
      return true
    }
  }

  func give(back count: Int) { held.withLock { $0 -= count } }
}
