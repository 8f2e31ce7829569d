import Bytes
import Threads

/// Where the tree is asked: on threads that may block, so that no event loop does.
final class Bench: Sendable {
  private let workers: Workers
  private let queue = FairQueue()

  /// - Parameters:
  ///   - limit: how many threads run at a time.
  ///   - most: how many there may be while some are blocked, as by a disk that does not respond.
  init(atMost limit: Int, evenHeldUp most: Int) { workers = Workers(atMost: limit, evenHeldUp: most) }

  /// Calls `attempt` on a thread, and again whenever what it waited for is there, and `done` with what came of it. A
  /// client that leaves ends it.
  func perform<Value: Sendable>(
    for client: Client, _ attempt: @escaping @Sendable () throws(Fault) -> Value,
    _ done: @escaping @Sendable (Result<Value, Fault>) -> Void
  ) {
    again(client, nil, attempt, done)
  }

  private func again<Value: Sendable>(
    _ client: Client, _ pending: Pending?, _ attempt: @escaping @Sendable () throws(Fault) -> Value,
    _ done: @escaping @Sendable (Result<Value, Fault>) -> Void
  ) {
    let submit: @Sendable () -> Void = { [self] in
      queue.add(
        { [self] in
          let interest = client.interest
          interest.run {
            if interest.isLost { return done(.failure(.interrupted)) }
            do throws(Fault) { done(.success(try attempt())) } catch {
              guard error.isDelay, !interest.isLost else { return done(.failure(error)) }
              let next = if case .pending(let next) = error.kind { next } else { Pending?.none }
              again(client, next, attempt, done)
            }
            // It keeps its product alive until here.
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

  /// Runs a job that nobody waits for.
  func submit(_ job: @escaping @Sendable () -> Void) { workers.submit(job) }

  func stop() { workers.stop() }
}
