internal import Synchronization

/// The current passwords of the user, in the order in which they are tried.
public final class Passwords: Sendable {
  /// A snapshot of them.
  public struct Edition: Sendable {
    public let passwords: [[UInt8]]
    /// Changes whenever the passwords do.
    public let number: UInt64
  }

  private let state: Mutex<Edition>
  private let reread: (@Sendable () -> [[UInt8]]?)?

  /// Whether there are no passwords and never will be.
  public let areNone: Bool

  /// `reread` returns the passwords when they may have changed, and nil if they have not; it may block.
  public init(_ passwords: [[UInt8]] = [], reread: (@Sendable () -> [[UInt8]]?)? = nil) {
    state = Mutex(Edition(passwords: passwords, number: 0))
    self.reread = reread
    areNone = passwords.isEmpty && reread == nil
  }

  /// The current edition, reread first. May block.
  public var now: Edition {
    guard let reread else { return state.withLock { $0 } }
    // Under the lock, so that a later reading is not replaced by an earlier one.
    return state.withLock { edition in
      if let passwords = reread(), passwords != edition.passwords {
        edition = Edition(passwords: passwords, number: edition.number + 1)
      }
      return edition
    }
  }
}
