internal import Bytes
internal import Glibc
internal import Logging
internal import Synchronization
internal import Tree

/// Logs one line per failure: which file, the offset in it, what was expected.
final class FailureLog: Sendable {
  private let logger: Logger
  /// The lines already logged, so that a program that retries causes only one.
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
  /// Whether the failure is logged: damaged content, a full or failing disk, but not missing names.
  var shouldLog: Bool {
    switch kind {
    case .system(let code): !reason.isEmpty && [ENOSPC, EDQUOT, EIO].contains(code)
    default: concernsContent
    }
  }

  /// The errno for a failure; the only such conversion.
  var errno: Int32 {
    switch kind {
    case .system(let code): code
    case .locked: EACCES
    case .damaged, .changed, .unsupported, .limit: EIO
    case .interrupted: EINTR
    // Delays are retried by a worker and never reach the kernel.
    case .later, .pending: EAGAIN
    }
  }
}
