public import Catalogue
internal import Glibc

/// The reason why a job failed.
public struct JobFailure: Error {
  public let failure: JobAnswer.Failure
  /// The end of a sentence that begins with the file's name. A library's message follows in parentheses.
  public let reason: String

  /// Creates a failure. `saying` is a library's message, which is put on one line of at most 200 characters.
  public init(_ failure: JobAnswer.Failure, _ reason: String, saying words: String = "") {
    self.failure = failure
    let line = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    self.reason = line.isEmpty ? reason : "\(reason) (\(line.prefix(200)))"
  }

  /// A failure due to insufficient memory. `saying` is as above.
  public static func noMemory(saying words: String = "") -> JobFailure {
    JobFailure(.memory, "needs more memory than is available", saying: words)
  }

  /// A failure due to a missing password.
  public static var locked: JobFailure {
    JobFailure(.locked, "requires a password, and no known password fits (-o password_file=FILE)")
  }

  /// Creates a failure from the errno of a system call.
  public init(_ reason: String, errno code: Int32) {
    let failure: JobAnswer.Failure =
      switch code {
      case ENOSPC, EDQUOT: .noSpace
      case ENOMEM: .memory
      default: .system
      }
    self.init(failure, reason, saying: unsafe String(cString: strerror(code)))
  }

  /// Whether the input is the cause, so that another attempt with the same bytes and any password would fail again.
  public var concernsInput: Bool {
    switch failure {
    case .damaged, .unsupported, .limit, .absent: true
    case .locked, .system, .memory, .noSpace, .unprotected: false
    }
  }

  /// Returns the failure with the name of one of several files.
  public func about(_ name: String) -> JobFailure {
    // A system failure is not the file's fault.
    [.system, .limit, .noSpace, .memory].contains(failure)
      ? JobFailure(failure, "\(reason) (at \(name))") : JobFailure(failure, "\(name) \(reason)")
  }
}

/// Distinguishes failures due to the file from failures due to the machine.
///
/// Most libraries report a failed write or allocation as they report damaged input, if they report it at all.
extension JobFailure {
  /// Returns the failure with its actual cause. `output` is the file that the job wrote. It is `nil` if the job wrote
  /// none.
  func settled(_ output: JobOutput?) -> JobFailure {
    switch failure {
    case .memory:
      // If memory is available, the allocation that failed has a size that the file claims.
      return Self.hasMemory ? JobFailure(.limit, "needs more memory than a converter may take") : self
    case .damaged, .unsupported, .limit, .system:
      if let refusal = Self.refusals.first(where: { reason.contains($0.words) }) {
        return JobFailure(refusal.failure, reason)
      }
      do throws(JobFailure) { try output?.reasonForFailure() } catch { return error }
      return self
    case .locked, .absent, .unprotected, .noSpace: return self
    }
  }

  /// The C library's messages for exhausted resources, which libraries include in their own messages.
  private static let refusals: [(words: String, failure: JobAnswer.Failure)] =
    [(ENOSPC, .noSpace), (EDQUOT, .noSpace), (EMFILE, .system), (ENFILE, .system)].map { code, failure in
      (unsafe String(cString: strerror(code)), failure)
    }

  /// Whether this process can allocate as much memory as most jobs need.
  private static var hasMemory: Bool {
    let size = 256 << 20
    guard let memory = unsafe malloc(size) else { return false }
    // Keeps the compiler from removing the allocation.
    unsafe memory.storeBytes(of: 1, as: UInt8.self)
    unsafe free(memory)
    return true
  }
}
