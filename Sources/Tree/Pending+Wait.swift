public import Bytes
internal import Threads

extension Pending {
  /// Blocks until the wait is over.
  func wait() {
    let isDone = Awaited(false)
    _ = whenDone { isDone.update { $0 = true } }
    isDone.wait { $0 ? () : nil }
  }
}

/// Asks `question`, which is patient, until it has an answer. Blocks: for who answers no kernel.
public func waiting<Value>(_ question: () throws(Fault) -> Value) throws(Fault) -> Value {
  // Held until the next answer: it holds what was made.
  var last: Pending?
  while true {
    do throws(Fault) { return try withExtendedLifetime(last, question) } catch {
      // It has not come to an end yet, but further.
      if error.kind == .later { continue }
      guard case .pending(let pending) = error.kind else { throw error }
      pending.wait()
      last = pending
    }
  }
}
