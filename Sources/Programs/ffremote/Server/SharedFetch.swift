import Bytes
import Locks
import Threads
import Tree

/// A value that is being requested from the server. Any number of requests can wait for it.
final class SharedFetch<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, Fault>?
    /// Cancels the request.
    var cancel: (@Sendable () -> Void)?
    var isAbandoned = false
    /// The time of the result, in nanoseconds.
    var doneAt: UInt64 = 0
  }

  private let state: UnfairLock<State>
  /// The time at which the request began, in nanoseconds.
  let begun = HTTPClient.now
  let pending: SharedOperation
  /// The time for which the result is valid, in nanoseconds.
  private let lifetime: UInt64

  init(lifetime: UInt64 = RemoteServer.lifetime) {
    self.lifetime = lifetime
    state = UnfairLock(State())
    let box = Box()
    pending = SharedOperation { box.owner?.abandon() }
    box.hold(self)
  }

  /// A weak reference for `pending`, which is owned by this object and has to notify it.
  private final class Box: Sendable {
    private struct Held: Sendable { weak var fetch: SharedFetch? }
    private let held = UnfairLock(Held())
    var owner: SharedFetch? { held.withLock { $0.fetch } }
    func hold(_ fetch: SharedFetch) { held.withLock { $0.fetch = fetch } }
  }

  /// Sets the action that cancels the request when no waiter is left.
  func whenAbandoned(_ cancel: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.cancel = cancel
      return state.isAbandoned
    }
    if isLate { cancel() }
  }

  private func abandon() {
    let cancel = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.result == nil else { return nil }
      state.isAbandoned = true
      state.result = .failure(.interrupted)
      return state.cancel.take()
    }
    cancel?()
    pending.finish()
  }

  func finish(_ result: Result<Value, Fault>) {
    let isFirst = state.withLock { state in
      guard state.result == nil else { return false }
      state.result = result
      state.cancel = nil
      state.doneAt = HTTPClient.now
      return true
    }
    if isFirst { pending.finish() }
  }

  /// The time until which the result is valid, in nanoseconds. Nil while it is pending, 0 if it was abandoned.
  var end: UInt64? {
    state.withLock { state in
      if state.isAbandoned { return 0 }
      return state.result == nil ? nil : state.doneAt + lifetime
    }
  }

  /// The duration of the request, in nanoseconds. 0 if it has not ended.
  var took: UInt64 { state.withLock { $0.doneAt > begun ? $0.doneAt - begun : 0 } }

  /// The value. Nil if it has not arrived, or the request has failed.
  var success: Value? { state.withLock { if case .success(let value) = $0.result { value } else { nil } } }

  var hasFailed: Bool { state.withLock { if case .failure = $0.result { true } else { false } } }

  /// Whether a new request can wait for this value, or use it.
  var isUsable: Bool { end.map { HTTPClient.now < $0 } ?? true }

  /// Returns the value. Blocks if permitted, otherwise throws `pending`.
  func value(_ blocking: BlockingMode) throws(Fault) -> Value {
    while true {
      if let result = state.withLock({ $0.result }) { return try result.get() }
      if blocking == .immediate { throw Fault(.pending(pending)) }
      try pending.wait()
    }
  }
}
