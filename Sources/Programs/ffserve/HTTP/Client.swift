import Bytes
import Locks

/// The state of a client that waits for an answer, for work on other threads.
final class Client: Sendable {
  private struct State {
    var isGone = false
    var whenGone: (@Sendable () -> Void)?
  }

  private let state = UnfairLock(State())
  /// The client's network.
  let network: Network

  init(in network: Network) { self.network = network }

  /// The cancellation token of the work on the answer.
  var interest: CancellationToken { CancellationToken { [self] in !state.withLock { $0.isGone } } }

  /// Cancels the work for the client.
  func leave() {
    let body = state.withLock { state in
      state.isGone = true
      return state.whenGone.take()
    }
    body?()
  }

  /// Calls `body` when the client leaves, or at once if it has left. Replaces an earlier `body`.
  func whenGone(_ body: (@Sendable () -> Void)?) {
    let isGone = state.withLock { state in
      state.whenGone = state.isGone ? nil : body
      return state.isGone
    }
    if isGone { body?() }
  }
}
