internal import Bytes
internal import Glibc
internal import Logging
internal import Synchronization
internal import Tree

/// One log line a failure: which file, where in it, what was expected.
final class FailureLog: Sendable {
  private let logger: Logger
  /// What was said already: a program that tries again and again is not worth a line each time.
  private let said = Mutex<Set<String>>([])
  private static let remembered = 4096

  init(_ logger: Logger) { self.logger = logger }

  func log(_ fault: Fault, _ path: String) {
    let line = "\(path): \(fault)"
    let isNew = said.withLock { said in
      if said.count >= Self.remembered { said.removeAll() }
      return said.insert(line).inserted
    }
    if isNew { logger.warning("\(line)") }
  }
}

extension Fault {
  /// Whether the log is to tell of it: of what files contain, and of a disk that is full or fails, but not of names that
  /// are not there.
  var isWorthALine: Bool {
    switch kind {
    case .system(let code): !reason.isEmpty && [ENOSPC, EDQUOT, EIO].contains(code)
    default: concernsContent
    }
  }

  /// The one place where a failure becomes an errno.
  var errno: Int32 {
    switch kind {
    case .system(let code): code
    case .locked: EACCES
    case .damaged, .changed, .unsupported, .limit: EIO
    case .interrupted: EINTR
    // Who is told to ask again is not the kernel.
    case .later, .pending: EAGAIN
    }
  }
}
