public import Bytes

extension SharedOperation {
  /// Blocks until the operation is done. Throws an interrupted fault if this thread's work is cancelled.
  public func wait() throws(Fault) {
    let isDone = Monitor(false)
    let token = whenDone { isDone.update { $0 = true } }
    do throws(Fault) { try isDone.wait { isDone -> Void? in isDone ? () : nil } } catch {
      cancel(token)
      throw error
    }
  }
}
