import Synchronization

/// How much memory answers may take together while they are sent: who takes none of what he asked for does not fill it.
final class LargeAnswers: Sendable {
  private let capacity: Int
  private let held = Mutex(0)

  /// Answers of at most this are not counted, in bytes.
  static let uncounted = 128 << 10

  /// - Parameter capacity: in bytes.
  init(_ capacity: Int) { self.capacity = capacity }

  /// False if there is no room now. One alone always has it.
  func take(_ count: Int) -> Bool {
    held.withLock { held in
      guard held == 0 || held + count <= capacity else { return false }
      held += count
      return true
    }
  }

  func give(back count: Int) { held.withLock { $0 -= count } }
}
