internal import CFuse3
internal import Glibc
internal import Synchronization

/// A request that is answered later, from another thread, unless the process that asks is interrupted before.
public final class ParkedRequest: Sendable {
  private struct State: ~Copyable {
    var request: Request?
    /// libfuse may call back from within the registration, where the request must not be answered yet.
    var isRegistered = false
    var isInterrupted = false
    var interrupted: (@Sendable () -> Void)?
  }

  private let state: Mutex<State>

  public init(_ request: consuming Request) {
    // libfuse hands the request to its callback itself.
    let raw = unsafe request.raw
    state = Mutex(State(request: consume request))
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe fuse_req_interrupt_func(
      raw,
      { _, context in
        guard let context = unsafe context else { return }
        // Alive: whoever takes the request waits for this callback before it lets go.
        unsafe Unmanaged<ParkedRequest>.fromOpaque(context).takeUnretainedValue().interrupt()
      }, context)
    state.withLock { $0.isRegistered = true }
    guard unsafe fuse_req_interrupted(raw) != 0 else { return }
    state.withLock { $0.isInterrupted = true }
    take()?.reply(error: EINTR)
  }

  deinit { _ = take() }

  /// The request, once; nil when it was taken already or its process was interrupted.
  public func take() -> Request? {
    let taken: Request? = state.withLock { state in
      state.interrupted = nil
      return state.request.take()
    }
    guard let request = taken else { return nil }
    // Waits for a callback that runs now; it finds nothing to answer.
    unsafe fuse_req_interrupt_func(request.raw, nil, nil)
    return request
  }

  /// Whether an answer is still wanted.
  public var isWaiting: Bool { state.withLock { !$0.isInterrupted } }

  /// Has `body` called when the process that asks is interrupted, at once if it is already; in the place of any other.
  public func whenInterrupted(_ body: @escaping @Sendable () -> Void) {
    let isInterrupted = state.withLock { state in
      state.interrupted = body
      return state.isInterrupted
    }
    if isInterrupted { body() }
  }

  private func interrupt() {
    var body: (@Sendable () -> Void)?
    let taken: Request? = state.withLock { state in
      guard state.isRegistered, let request = state.request.take() else { return nil }
      state.isInterrupted = true
      body = state.interrupted.take()
      return request
    }
    taken?.reply(error: EINTR)
    body?()
  }
}
