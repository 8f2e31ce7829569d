internal import Synchronization

/// The passwords that a user has given, in the order in which they are tried, as they are by now.
public final class Passwords: Sendable {
  /// What they are for a while.
  public struct Edition: Sendable {
    public let passwords: [[UInt8]]
    /// Another one whenever they are others.
    public let number: UInt64
  }

  private let state: Mutex<Edition>
  private let reread: (@Sendable () -> [[UInt8]]?)?

  /// Whether there are none, nor ever will be.
  public let areNone: Bool

  /// `reread` gives them when they may be others than before, and nil when they are not; it may block.
  public init(_ passwords: [[UInt8]] = [], reread: (@Sendable () -> [[UInt8]]?)? = nil) {
    state = Mutex(Edition(passwords: passwords, number: 0))
    self.reread = reread
    areNone = passwords.isEmpty && reread == nil
  }

  /// Looks whether they have changed. May block.
  public var now: Edition {
    guard let reread else { return state.withLock { $0 } }
    // Under the lock: what was read later is not to be replaced by what was read before.
    return state.withLock { edition in
      if let passwords = reread(), passwords != edition.passwords {
        edition = Edition(passwords: passwords, number: edition.number + 1)
      }
      return edition
    }
  }
}
