public import Bytes
internal import Synchronization

/// A mutex that worker threads may hold for long, while bytes are decoded or read.
///
/// A waiter cancels when its own work is no longer wanted. The owner's work counts as wanted while any waiter's work
/// is.
public final class CancellableLock: Sendable {
  private struct State: Sendable {
    var isHeld = false
    /// The previous cancellation token of the owner's thread, and the token that includes the waiters.
    var own: CancellationToken?
    var joint: CancellationToken?
    /// The tokens of the waiters, by number. Nil for a waiter that cannot be cancelled.
    var waiting: [UInt64: CancellationToken?] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Monitor(State())

  public init() {}

  /// Acquires the lock. Throws an interrupted fault if this thread's work is no longer wanted. Throws `later` if the
  /// lock is held and `blocking` is immediate.
  public func lock(_ blocking: BlockingMode = .blocking) throws(Fault) {
    let own = CancellationToken.current
    let number = state.change { state -> UInt64? in
      if !state.isHeld {
        state.isHeld = true
        return nil
      }
      state.lastNumber += 1
      if blocking == .blocking { state.waiting[state.lastNumber] = .some(own) }
      return state.lastNumber
    }
    if let number {
      if blocking == .immediate { throw .later }
      defer { state.change { $0.waiting[number] = nil } }
      try state.take { state -> Void? in
        if state.isHeld { return nil }
        state.isHeld = true
        return ()
      }
    }
    guard let own else { return }
    let joint = CancellationToken { [weak self] in !own.isLost || self?.isWaitedFor ?? false }
    _ = CancellationToken.exchange(joint)
    state.change { ($0.own, $0.joint) = (own, joint) }
  }

  private var isWaitedFor: Bool {
    // Evaluated without the lock, because each token may be a lock's, too.
    state.read { Array($0.waiting.values) }.contains { !($0?.isLost ?? false) }
  }

  public func unlock() {
    let (own, joint) = state.update { state -> (CancellationToken?, CancellationToken?) in
      defer { (state.isHeld, state.own, state.joint) = (false, nil, nil) }
      return (state.own, state.joint)
    }
    if joint != nil { _ = CancellationToken.exchange(own) }
  }
}
