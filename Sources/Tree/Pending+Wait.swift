public import Bytes
internal import Threads

extension Pending {
  /// Blocks until the wait is over. Throws an interrupted fault when nobody waits for this thread any more.
  package func wait() throws(Fault) {
    let isDone = Awaited(false)
    let token = whenDone { isDone.update { $0 = true } }
    do throws(Fault) { try isDone.wait { isDone -> Void? in isDone ? () : nil } } catch {
      cancel(token)
      throw error
    }
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
      try pending.wait()
      last = pending
    }
  }
}
