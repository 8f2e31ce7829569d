internal import Bytes
internal import CPosix
internal import FuseLink
internal import Glibc
internal import Threads
internal import Tree

/// Answering of requests, immediately or by a worker.
extension MountedTree {
  /// Answers a request, immediately or by a worker if that would block. `mayWaitForViews` is whether it may take long
  /// even if the node is real. `undo` is called instead of `reply` if the caller no longer waits.
  func answer<Value>(
    _ request: consuming Request, _ node: UInt64, mayWaitForViews: Bool = false,
    _ work: @escaping @Sendable (BlockingMode) throws(Fault) -> Value,
    undo: @escaping @Sendable (Value) -> Void = { _ in },
    _ reply: @escaping @Sendable (consuming Request, Value) -> Void
  ) {
    do throws(Fault) {
      reply(request, try work(.immediate))
    } catch {
      guard error.isDelay else { return fail(request, error, node) }
      let caller = WaitingReader(request, ending, isReal: !mayWaitForViews && tree.isReal(node))
      again(caller, after: error, node) { () throws(Fault) in
        let value = try work(.blocking)
        if let request = caller.take() { reply(request, value) } else { undo(value) }
      }
    }
  }

  /// Retries on a worker until the request succeeds or fails: immediately, or when the pending result is available.
  func again(
    _ caller: WaitingReader, after delay: Fault, _ node: UInt64, _ attempt: @escaping @Sendable () throws(Fault) -> Void
  ) {
    let pending = if case .pending(let pending) = delay.kind { pending } else { SharedOperation?.none }
    let work = ffmount_present_work()
    let submit: @Sendable () -> Void = { [self] in
      workers.submit { [self] in
        // The thread that submits may belong to another request.
        ffmount_work_on(work)
        caller.interest.run {
          // No work is done for a caller that no longer waits.
          if caller.interest.isLost { return caller.giveUp() }
          do throws(Fault) { try attempt() } catch {
            if error.isDelay {
              return caller.interest.isLost ? caller.giveUp() : again(caller, after: error, node, attempt)
            }
            if let request = caller.take() { fail(request, error, node) }
          }
          // `pending` retains the result until here.
          withExtendedLifetime(pending) {}
        }
      }
    }
    guard let pending else { return submit() }
    let token = pending.whenDone(submit)
    caller.whenInterrupted { pending.cancel(token) }
  }

  func fail(_ request: consuming Request, _ fault: Fault, _ node: UInt64) {
    if fault.shouldLog { failures.log(fault, tree.path(node)) }
    request.reply(error: fault.errno)
  }

  /// Returns the caller's credentials. Returns `nil` if access does not depend on them.
  func caller(_ request: borrowing Request) -> Credentials? {
    tree.isShared ? Credentials(user: request.user, group: request.group, thread: request.process) : nil
  }

  func node(_ entry: Tree.Entry) -> Request.Node {
    Request.Node(
      id: entry.node, generation: entry.generation, status: stat(entry.attributes), lifetime: entry.lifetime,
      statusLifetime: entry.attributesLifetime)
  }
}
