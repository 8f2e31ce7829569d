public import Bytes
internal import Threads

extension Pending {
  /// Blocks until the wait is over. Throws an interrupted fault when this thread's work is no longer wanted.
  package func wait() throws(Fault) {
    let isDone = Monitor(false)
    let token = whenDone { isDone.update { $0 = true } }
    do throws(Fault) { try isDone.wait { isDone -> Void? in isDone ? () : nil } } catch {
      cancel(token)
      throw error
    }
  }
}

/// Retries `question`, which must be patient, until it succeeds. Blocks: not for threads that reply to the kernel.
///
/// - Parameter note: is told what is waited for.
public func waiting<Value>(
  noting note: (Pending) -> Void = { _ in }, _ question: () throws(Fault) -> Value
) throws(Fault) -> Value {
  // Held until the next attempt: it keeps the product alive.
  var last: Pending?
  while true {
    do throws(Fault) { return try withExtendedLifetime(last, question) } catch {
      // Some of the work is done; the next attempt continues it.
      if error.kind == .later { continue }
      guard case .pending(let pending) = error.kind else { throw error }
      note(pending)
      try pending.wait()
      last = pending
    }
  }
}
