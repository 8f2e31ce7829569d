import Bytes
import Synchronization
import Tree

/// A value that is on its way from the server, for any number of requests that wait for it.
final class Fetch<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, Fault>?
    /// What ends the work on it.
    var cancel: (@Sendable () -> Void)?
    var isAbandoned = false
    /// In nanoseconds.
    var doneAt: UInt64 = 0
  }

  private let state: Mutex<State>
  private let beganAt = Wire.now
  let pending: Pending

  init() {
    state = Mutex(State())
    let box = Box()
    pending = Pending { box.owner?.abandon() }
    box.hold(self)
  }

  /// So that `pending`, which this has, can tell this.
  private final class Box: Sendable {
    private struct Held: Sendable { weak var fetch: Fetch? }
    private let held = Mutex(Held())
    var owner: Fetch? { held.withLock { $0.fetch } }
    func hold(_ fetch: Fetch) { held.withLock { $0.fetch = fetch } }
  }

  /// Sets what ends the work when nobody waits any more.
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
      state.doneAt = Wire.now
      return true
    }
    if isFirst { pending.finish() }
  }

  /// Until when what came of it is relied on, in nanoseconds; nil while it is on its way, 0 if nobody waited for it.
  var end: UInt64? {
    state.withLock { state in
      if state.isAbandoned { return 0 }
      return state.result == nil ? nil : state.doneAt + Server.lifetime
    }
  }

  /// How long it took to come, in nanoseconds; 0 if it has not.
  var took: UInt64 { state.withLock { $0.doneAt > beganAt ? $0.doneAt - beganAt : 0 } }

  var hasFailed: Bool { state.withLock { if case .failure = $0.result { true } else { false } } }

  /// Whether who asks now may wait for it, or take what came of it.
  var isUsable: Bool { end.map { Wire.now < $0 } ?? true }

  /// The value; who must not wait is told to wait for `pending`.
  func value(_ patience: Patience) throws(Fault) -> Value {
    while true {
      if let result = state.withLock({ $0.result }) { return try result.get() }
      if patience == .immediate { throw Fault(.pending(pending)) }
      try pending.wait()
    }
  }
}
