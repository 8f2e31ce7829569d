/// Why bytes are not available or not what they should be.
public struct Fault: Error, Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// Not at once: retry with `Patience.blocking`, on a thread that may wait.
    case later
    /// It is being made elsewhere, whatever the patience: retry when that has ended.
    case pending(Pending)
    /// The work is no longer wanted, or the mount ends: it stopped where it was, and the next request resumes from
    /// there.
    case interrupted
    /// The bytes break the format's rules.
    case damaged
    /// The file is no longer the one that was opened.
    case changed
    /// Well formed, but beyond what can be decoded here.
    case unsupported
    /// A password is missing or wrong.
    case locked
    /// A limit against hostile input was exceeded.
    case limit
    /// A system call failed with this errno.
    case system(Int32)
  }

  public var kind: Kind
  /// What was expected and what was found, as the end of a sentence that starts with the file's name.
  public var reason: String
  /// In bytes from the start of the source; nil if there is no such offset.
  public var offset: Int64?

  public init(_ kind: Kind, _ reason: String = "", atByte offset: Int64? = nil) {
    self.kind = kind
    self.reason = reason
    self.offset = offset
  }

  public static let later = Fault(.later)
  public static let interrupted = Fault(.interrupted)

  /// Whether the operation only has to be retried: nothing has failed, and the result must not be cached.
  public var isDelay: Bool {
    switch kind {
    case .later, .pending, .interrupted: true
    case .damaged, .changed, .unsupported, .locked, .limit, .system: false
    }
  }
}

/// The result of `attempt`; nil if that fails. Only a delay is rethrown: it says nothing about what was attempted.
public func unlessDelayed<Value>(_ attempt: () throws(Fault) -> Value) throws(Fault) -> Value? {
  do throws(Fault) { return try attempt() } catch {
    if error.isDelay { throw error }
    return nil
  }
}

extension Fault: CustomStringConvertible {
  public var description: String {
    guard let offset else { return reason }
    return "\(reason) (at byte \(offset))"
  }
}

/// Whether the caller may be made to wait.
public enum Patience: Sendable {
  /// The caller has to reply to the kernel and must not wait: what takes long throws `Fault.later` instead.
  case immediate
  /// The caller is a worker thread.
  case blocking
}
