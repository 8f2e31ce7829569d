package import Bytes
internal import Glibc
internal import Locks

/// The documents of one search whose texts are in the index and cannot be read any more, so that they may match.
package final class UnreadDocuments: Sendable {
  private let known = UnfairLock(Known())

  private struct Known {
    var paths: Set<[UInt8]> = []
    /// The first document, and the reason why it cannot be read.
    var first: (path: [UInt8], fault: Fault)?
  }

  package init() {}

  /// Records a document by its path below the searched folder.
  func note(_ path: [UInt8], _ fault: Fault) {
    known.withLock { known in
      known.paths.insert(path)
      known.first = known.first ?? (path, fault)
    }
  }

  package var count: Int { known.withLock { $0.paths.count } }

  /// A fault that names the first document. `nil` if there is none.
  package var fault: Fault? {
    known.withLock { known in
      guard let first = known.first else { return nil }
      let rest = known.paths.count - 1
      let others = rest == 0 ? "" : rest == 1 ? " and 1 other" : " and \(rest) others"
      let path = String(decoding: first.path, as: UTF8.self)
      var reason = first.fault.reason
      if case .system(let number) = first.fault.kind, reason.isEmpty {
        reason = unsafe String(cString: strerror(number))
      }
      return Fault(first.fault.kind, "\(path)\(others) may match and cannot be read: \(reason)")
    }
  }
}
