internal import Synchronization

/// The user's current passwords, in the order in which they are tried.
public final class Passwords: Sendable {
  /// A snapshot of the passwords.
  public struct Edition: Sendable {
    public let passwords: [[UInt8]]
    /// A number that changes whenever the passwords do.
    public let number: UInt64
  }

  private let state: Mutex<Edition>
  private let reread: (@Sendable () -> [[UInt8]]?)?

  /// Whether the list is empty and stays so.
  public let areNone: Bool

  /// Creates a list of passwords. `reread` may block. It returns the passwords if they may have changed, and `nil` if
  /// they have not.
  public init(_ passwords: [[UInt8]] = [], reread: (@Sendable () -> [[UInt8]]?)? = nil) {
    state = Mutex(Edition(passwords: passwords, number: 0))
    self.reread = reread
    areNone = passwords.isEmpty && reread == nil
  }

  /// The current passwords, which are reread first. May block.
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
