internal import Locks

/// The reason why an encrypted file is opened.
public enum DecryptionPurpose: Sendable {
  case reading
  /// Finding out the kind of a file, which must not take long.
  case recognition
}

/// The user's current passwords, in the order in which they are tried.
public final class Passwords: Sendable {
  /// A snapshot of the passwords.
  public struct Edition: Sendable {
    public let passwords: [[UInt8]]
    /// A number that changes whenever the passwords do.
    public let number: UInt64
  }

  private struct State {
    /// The passwords of the list, and those that were added to it, which are tried last.
    var listed: [[UInt8]]
    var added: [[UInt8]] = []
    var number: UInt64 = 0
  }

  private let state: UnfairLock<State>
  private let reread: (@Sendable () -> [[UInt8]]?)?

  /// Creates a list of passwords. `reread` may block. It returns the passwords if they may have changed, and `nil` if
  /// they have not.
  public init(_ passwords: [[UInt8]] = [], reread: (@Sendable () -> [[UInt8]]?)? = nil) {
    state = UnfairLock(State(listed: passwords))
    self.reread = reread
  }

  /// Whether the list is empty until a password is added.
  public var areNone: Bool { reread == nil && state.withLock { $0.listed.isEmpty && $0.added.isEmpty } }

  /// The current passwords, which are reread first. May block.
  public var now: Edition {
    // Under the lock, so that a later reading is not replaced by an earlier one.
    state.withLock { state in
      if let passwords = reread?(), passwords != state.listed {
        state.listed = passwords
        state.number += 1
      }
      return Edition(passwords: state.listed + state.added, number: state.number)
    }
  }

  /// Adds passwords to the list, or removes passwords that were added to it. May block while others reread the list.
  public func change(_ body: (_ added: inout [[UInt8]]) -> Void) {
    state.withLock { state in
      let before = state.added
      body(&state.added)
      if state.added != before { state.number += 1 }
    }
  }
}
