internal import CFuse3
internal import Glibc
internal import Synchronization

/// A request that is answered later, from another thread, unless the process that asks is interrupted before.
public final class ParkedRequest: Sendable {
  private struct State: ~Copyable {
    var request: Request?
    /// libfuse may call back from within the registration, where the request must not be answered yet.
    var isRegistered = false
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
    if unsafe fuse_req_interrupted(raw) != 0 { take()?.reply(error: EINTR) }
  }

  deinit { _ = take() }

  /// The request, once; nil when it was taken already or its process was interrupted.
  public func take() -> Request? {
    guard let request = state.withLock({ $0.request.take() }) else { return nil }
    // Waits for a callback that runs now; it finds nothing to answer.
    unsafe fuse_req_interrupt_func(request.raw, nil, nil)
    return request
  }

  private func interrupt() {
    let taken = state.withLock { $0.isRegistered ? $0.request.take() : nil }
    taken?.reply(error: EINTR)
  }
}
