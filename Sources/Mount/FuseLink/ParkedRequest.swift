internal import CFuse3
internal import Files
internal import Glibc
internal import Locks
internal import Threads

/// A request that is answered later, from another thread.
public final class ParkedRequest: Sendable {
  /// The action when a signal reaches the calling process.
  public enum Interruption: Sendable {
    /// Replies EINTR immediately.
    case answered
    /// Replies EINTR immediately if the signal ends the process. Other signals are ignored, since disk file systems do
    /// not interrupt a call for them and programs do not expect it. The kernel reports only the first signal: see
    /// `whenSignalled`.
    case answeredIfFatal
    /// Sets `isWaiting` to false and leaves the reply to the owner. For a request that must be either completed or
    /// interrupted, but not both.
    case left
  }

  private struct State: ~Copyable {
    var request: Request?
    /// Whether the registration has returned. libfuse may call back before that, when the request must not be answered
    /// yet. `init` then answers it.
    var isRegistered = false
    var isInterrupted = false
    var interrupted: (@Sendable () -> Void)?
    /// Whether a signal was ignored.
    var isSignalled = false
    var signalled: (@Sendable () -> Void)?
  }

  private let state: UnfairLock<State>
  private let interruption: Interruption
  private let thread: Int32
  private let record: ChangeRecord?

  /// Parks a request and registers for its interruption.
  public convenience init(_ request: consuming Request, _ interruption: Interruption = .answered) {
    self.init(request, interruption) {}
  }

  /// Parks a request. Calls `registered` as soon as an interruption can be answered from another thread. For tests.
  init(_ request: consuming Request, _ interruption: Interruption = .answered, registered: () -> Void) {
    self.interruption = interruption
    thread = request.process
    record = request.record
    // libfuse passes the request to its callback. Valid only until an interruption can be answered.
    let raw = unsafe request.raw
    state = UnfairLock(State(request: consume request))
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe fuse_req_interrupt_func(
      raw,
      { _, context in
        guard let context = unsafe context else { return }
        // Still alive: `take` waits for this callback before it releases the request.
        unsafe Unmanaged<ParkedRequest>.fromOpaque(context).takeUnretainedValue().interrupt()
      }, context)
    let isInterrupted = state.withLock { state in
      state.isRegistered = true
      return state.isInterrupted
    }
    registered()
    if isInterrupted, interruption != .left { take()?.reply(error: EINTR) }
  }

  deinit { _ = take() }

  /// Returns the request, once. Returns `nil` if it was already taken or its process was interrupted.
  public func take() -> Request? {
    let taken: Request? = state.withLock { state in
      (state.interrupted, state.signalled) = (nil, nil)
      return state.request.take()
    }
    guard let request = taken else { return nil }
    // Waits for a running callback, which finds nothing to answer.
    unsafe fuse_req_interrupt_func(request.raw, nil, nil)
    return request
  }

  /// Whether a reply is still wanted.
  public var isWaiting: Bool { state.withLock { !$0.isInterrupted } }

  /// Calls `body` when the calling process is interrupted, or immediately if it already is. Replaces an earlier `body`.
  public func whenInterrupted(_ body: @escaping @Sendable () -> Void) {
    let isInterrupted = state.withLock { state in
      state.interrupted = body
      return state.isInterrupted
    }
    if isInterrupted { body() }
  }

  /// Calls `body` when a signal that does not end the calling process is ignored, or immediately if one was. The kernel
  /// reports no other signal, so `interruptIfKilled` must then be called repeatedly.
  public func whenSignalled(_ body: @escaping @Sendable () -> Void) {
    let isSignalled = state.withLock { state in
      state.signalled = body
      return state.isSignalled
    }
    if isSignalled { body() }
  }

  /// Interrupts the request if a signal is ending the calling process. Returns whether the request still waits.
  public func interruptIfKilled() -> Bool {
    if KernelThread.isBeingKilled(thread) { interrupt() }
    return state.withLock { $0.request != nil }
  }

  private func interrupt() {
    if interruption == .answeredIfFatal, !KernelThread.isBeingKilled(thread) {
      let body = state.withLock { state in
        state.isSignalled = true
        return state.signalled.take()
      }
      body?()
      return
    }
    var body: (@Sendable () -> Void)?
    let taken: Request? = state.withLock { state in
      guard state.isRegistered else {
        state.isInterrupted = true
        return nil
      }
      if interruption == .left {
        state.isInterrupted = true
        if state.request != nil { record?.interrupt() }
        body = state.interrupted.take()
        return nil
      }
      guard let request = state.request.take() else { return nil }
      state.isInterrupted = true
      state.signalled = nil
      body = state.interrupted.take()
      return request
    }
    taken?.reply(error: EINTR)
    body?()
  }
}
