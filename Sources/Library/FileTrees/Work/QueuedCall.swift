internal import Bytes
internal import Locks
internal import Synchronization
internal import Threads

/// A job on a thread that may block, and the task that waits for it.
///
/// A cancelled task continues at once. The job stops at its next check for cancellation.
final class QueuedCall<Value: Sendable>: Sendable {
  private struct State {
    var outcome: Result<Value, Fault>?
    var waiter: CheckedContinuation<Result<Value, Fault>, Never>?
  }

  private let state = UnfairLock(State())
  private let isLost = Atomic<Bool>(false)

  init(on bench: ThreadPool, _ body: @escaping @Sendable () throws(Fault) -> Value) {
    bench.submit { [self] in
      let interest = CancellationToken { [self] in !isLost.load(ordering: .relaxed) }
      interest.run {
        do throws(Fault) {
          try CancellationToken.check()
          end(.success(try body()))
        } catch { end(.failure(error)) }
      }
    }
  }

  private func end(_ outcome: Result<Value, Fault>) {
    let waiter = state.withLock { state in
      if state.outcome == nil { state.outcome = outcome }
      return state.waiter.take()
    }
    waiter?.resume(returning: outcome)
  }

  /// Whether the job has ended or was cancelled.
  var isOver: Bool { state.withLock { $0.outcome != nil } }

  /// Cancels the job.
  func cancel() {
    isLost.store(true, ordering: .relaxed)
    end(.failure(.interrupted))
  }

  /// Returns the job's value. Does not block a thread. Only one task can wait at a time.
  func value(isolation: isolated (any Actor)? = #isolation) async throws(Fault) -> Value {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.waiter = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      cancel()
    }
    return try outcome.get()
  }
}
