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
