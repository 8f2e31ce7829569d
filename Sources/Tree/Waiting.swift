public import Bytes
internal import Threads

/// Calls `question` until it succeeds and waits for pending operations in between. `question` must use
/// `BlockingMode.blocking`. Blocks: not for threads that reply to the kernel.
///
/// - Parameter note: called with each pending operation before the wait.
public func waiting<Value>(
  noting note: (SharedOperation) -> Void = { _ in }, _ question: () throws(Fault) -> Value
) throws(Fault) -> Value {
  // Kept until the next attempt, since it keeps the result alive.
  var last: SharedOperation?
  while true {
    do throws(Fault) { return try withExtendedLifetime(last, question) } catch {
      // Some of the work is done; the next attempt continues it.
      if error.kind == .later { continue }
      guard let pending = error.pending else { throw error }
      note(pending)
      try pending.wait()
      last = pending
    }
  }
}
