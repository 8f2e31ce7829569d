/// The reason that bytes are unavailable or invalid.
public struct Fault: Error, Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// The operation would block. Retry with `BlockingMode.blocking` on a thread that may block.
    case later
    /// The bytes are being produced by another operation. Retry after it ends. Thrown for any patience.
    case pending(SharedOperation)
    /// The work was cancelled, or the mount ends. The next request resumes where it stopped.
    case interrupted
    /// The bytes break the format's rules.
    case damaged
    /// The file is no longer the one that was opened.
    case changed
    /// The bytes are well formed, but this decoder does not support them.
    case unsupported
    /// A password is missing or wrong.
    case locked
    /// A limit on untrusted input was exceeded.
    case limit
    /// A system call failed with this errno.
    case system(Int32)
  }

  public var kind: Kind
  /// The expected and the actual input, as the end of a sentence that starts with the file's name.
  public var reason: String
  /// The offset in bytes from the start of the source. Nil if there is none.
  public var offset: Int64?

  public init(_ kind: Kind, _ reason: String = "", atByte offset: Int64? = nil) {
    self.kind = kind
    self.reason = reason
    self.offset = offset
  }

  /// Returns the fault of a range of a source as one of the source. `start` is the offset of the range. `nil` if the
  /// source does not contain the bytes of the range as they are.
  public func moved(by start: Int64?) -> Fault {
    Fault(
      kind, reason, atByte: start.flatMap { start in offset.map { $0.addingReportingOverflow(start).partialValue } })
  }

  public static let later = Fault(.later)
  public static let interrupted = Fault(.interrupted)

  /// Whether the operation only has to be retried. Nothing has failed, and the result must not be cached.
  public var isDelay: Bool {
    switch kind {
    case .later, .pending, .interrupted: true
    case .damaged, .changed, .unsupported, .locked, .limit, .system: false
    }
  }

  /// The operation to wait for before the next attempt. A caller that gives up has to cancel it if it is unused.
  public var pending: SharedOperation? { if case .pending(let operation) = kind { operation } else { nil } }
}

/// Returns the result of `attempt`. Returns `nil` if it fails. Rethrows only delays, which say nothing about the
/// attempted operation.
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

/// Whether an operation may block its caller.
public enum BlockingMode: Sendable {
  /// The caller has to reply to the kernel and must not block. Operations that take long throw `Fault.later`.
  case immediate
  /// The caller is a worker thread, which may block.
  case blocking
}
