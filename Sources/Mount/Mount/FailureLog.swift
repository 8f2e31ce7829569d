internal import Bytes
internal import Locks
internal import Logging
internal import Tree

/// A log of failures: one line for each file and fault.
final class FailureLog: Sendable {
  private let logger: Logger
  /// The lines already logged, so that a program that retries causes only one.
  private let said = UnfairLock<Set<String>>([])
  private static let remembered = 4096

  init(_ logger: Logger) { self.logger = logger }

  func log(_ fault: Fault, _ path: String) {
    let line = path.isEmpty ? "\(fault)" : "\(path): \(fault)"
    let isNew = said.withLock { said in
      if said.count >= Self.remembered { said.removeAll() }
      return said.insert(line).inserted
    }
    if isNew { logger.warning("\(line)") }
  }
}
