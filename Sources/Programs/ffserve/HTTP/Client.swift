import Bytes
import Synchronization

/// Whether somebody still waits for an answer, for work on other threads.
final class Client: Sendable {
  private struct State {
    var isGone = false
    var whenGone: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  /// Where it is.
  let network: Network

  init(in network: Network) { self.network = network }

  /// The interest that work on the answer is done for.
  var interest: Interest { Interest { [self] in !state.withLock { $0.isGone } } }

  /// Cancels what is done for the client.
  func leave() {
    let body = state.withLock { state in
      state.isGone = true
      return state.whenGone.take()
    }
    body?()
  }

  /// Calls `body` when the client leaves, at once if it has. Replaces an earlier `body`.
  func whenGone(_ body: (@Sendable () -> Void)?) {
    let isGone = state.withLock { state in
      state.whenGone = state.isGone ? nil : body
      return state.isGone
    }
    if isGone { body?() }
  }
}
