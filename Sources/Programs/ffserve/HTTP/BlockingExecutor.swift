import Bytes
import Threads

/// Runs blocking tree operations on a thread pool, so that no event loop blocks.
final class BlockingExecutor: Sendable {
  private let workers: ThreadPool
  private let queue = FairQueue()

  /// - Parameters:
  ///   - limit: the maximum number of running threads.
  ///   - most: the maximum number of threads while some are blocked, for instance by a disk that does not respond.
  init(atMost limit: Int, evenHeldUp most: Int) { workers = ThreadPool(atMost: limit, evenHeldUp: most) }

  /// Calls `attempt` on a thread, and again after each wait for data. Calls `done` with the result. Cancelled if the
  /// client leaves.
  func perform<Value: Sendable>(
    for client: Client, _ attempt: @escaping @Sendable () throws(Fault) -> Value,
    _ done: @escaping @Sendable (Result<Value, Fault>) -> Void
  ) {
    again(client, nil, attempt, done)
  }

  private func again<Value: Sendable>(
    _ client: Client, _ pending: SharedOperation?, _ attempt: @escaping @Sendable () throws(Fault) -> Value,
    _ done: @escaping @Sendable (Result<Value, Fault>) -> Void
  ) {
    let submit: @Sendable () -> Void = { [self] in
      queue.add(
        { [self] in
          let interest = client.interest
          interest.run {
            if interest.isLost { return done(.failure(.interrupted)) }
            do throws(Fault) { done(.success(try attempt())) } catch {
              guard error.isDelay, !interest.isLost else {
                error.pending?.cancelIfUnused()
                return done(.failure(error))
              }
              again(client, error.pending, attempt, done)
            }
            // The operation keeps its result alive until here.
            withExtendedLifetime(pending) {}
          }
        }, for: client.network)
      workers.submit { [queue] in queue.next()?() }
    }
    guard let pending else { return submit() }
    let token = pending.whenDone {
      client.whenGone(nil)
      submit()
    }
    client.whenGone {
      pending.cancel(token)
      done(.failure(.interrupted))
    }
  }

  /// Runs a job without a client.
  func submit(_ job: @escaping @Sendable () -> Void) { workers.submit(job) }

  func stop() { workers.stop() }
}
