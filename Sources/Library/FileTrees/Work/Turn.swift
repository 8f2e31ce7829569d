internal import Bytes
internal import Synchronization
internal import Threads

/// One job on a thread that may block, and the task that waits for it.
///
/// A task never waits for longer than it wants: once it is cancelled it goes on at once, and the job stops at its next
/// step.
final class Turn<Value: Sendable>: Sendable {
  private struct State {
    var outcome: Result<Value, Fault>?
    var waiter: CheckedContinuation<Result<Value, Fault>, Never>?
  }

  private let state = Mutex(State())
  private let isLost = Atomic<Bool>(false)

  init(on bench: Workers, _ body: @escaping @Sendable () throws(Fault) -> Value) {
    bench.submit { [self] in
      let interest = Interest { [self] in !isLost.load(ordering: .relaxed) }
      interest.run {
        do throws(Fault) {
          try Interest.check()
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

  /// Whether there is a value, or will be none.
  var isOver: Bool { state.withLock { $0.outcome != nil } }

  /// Nobody wants the value any more.
  func cancel() {
    isLost.store(true, ordering: .relaxed)
    end(.failure(.interrupted))
  }

  /// Waits on no thread. One task may wait at a time.
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
