public import Bytes
internal import Synchronization

/// A lock that may be held for long, while bytes are decoded or read; its holders are worker threads.
///
/// Who waits for it gives up when nobody waits for him any more, and who holds it works for those, too, who wait.
public final class TurnLock: Sendable {
  private struct State: Sendable {
    var isHeld = false
    /// What the holder's thread worked for before, and works for now.
    var own: Interest?
    var joint: Interest?
    /// Those who wait, by a number; nil is somebody who waits whatever happens.
    var waiting: [UInt64: Interest?] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Awaited(State())

  public init() {}

  /// Throws an interrupted fault when nobody waits for this thread any more, and `later` rather than make the impatient wait.
  public func lock(_ patience: Patience = .blocking) throws(Fault) {
    let own = Interest.current
    let number = state.change { state -> UInt64? in
      if !state.isHeld {
        state.isHeld = true
        return nil
      }
      state.lastNumber += 1
      if patience == .blocking { state.waiting[state.lastNumber] = .some(own) }
      return state.lastNumber
    }
    if let number {
      if patience == .immediate { throw .later }
      defer { state.change { $0.waiting[number] = nil } }
      try state.take { state -> Void? in
        if state.isHeld { return nil }
        state.isHeld = true
        return ()
      }
    }
    guard let own else { return }
    let joint = Interest { [weak self] in !own.isLost || self?.isWaitedFor ?? false }
    _ = Interest.exchange(joint)
    state.change { ($0.own, $0.joint) = (own, joint) }
  }

  private var isWaitedFor: Bool {
    // Asked without the lock: each may be a lock's, too.
    state.read { Array($0.waiting.values) }.contains { !($0?.isLost ?? false) }
  }

  public func unlock() {
    let (own, joint) = state.update { state -> (Interest?, Interest?) in
      defer { (state.isHeld, state.own, state.joint) = (false, nil, nil) }
      return (state.own, state.joint)
    }
    if joint != nil { _ = Interest.exchange(own) }
  }
}
