internal import Locks

/// A task's request for the build lock of a result, and then the lock. Used by one thread at a time.
final class BuildLockRequest: Sendable {
  private enum State {
    case new
    case waits(since: ContinuousClock.Instant, DiskCache, RenditionName)
    /// The lock, or `nil` if the result is made without one.
    case granted(DiskCache.BuildLock?)
  }

  private let state = UnfairLock(State.new)

  /// The maximum time to wait for a lock. A process that has it for longer may hang.
  private static let longestWait = Duration.seconds(120)

  /// Returns whether the result may be made now. Blocks only for the disk.
  func isGranted(_ name: RenditionName, in cache: DiskCache) -> Bool {
    let start: ContinuousClock.Instant
    switch state.withLock({ $0 }) {
    case .new: start = .now
    case .waits(let since, _, _): start = since
    case .granted: return true
    }
    let next: State =
      switch cache.attemptTurn(name) {
      case .granted(let turn): .granted(turn)
      case .held: ContinuousClock.now - start > Self.longestWait ? .granted(nil) : .waits(since: start, cache, name)
      }
    state.withLock { $0 = next }
    if case .granted = next { return true }
    return false
  }

  /// Retries after `isGranted` has returned `false`.
  func isGrantedNow() -> Bool {
    guard case .waits(_, let cache, let name) = state.withLock({ $0 }) else { return true }
    return isGranted(name, in: cache)
  }

  /// Releases the lock.
  func end() { state.withLock { $0 = .granted(nil) } }
}
