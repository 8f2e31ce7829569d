public import Bytes
internal import Glibc
internal import Locks

/// Counts the threads that wait for background work and, for a limited time, those that received its result.
///
/// A waiter that cancels has no result and no longer counts.
public final class WaiterCount: Sendable {
  private struct State {
    var waiting = 0
    /// The time until which finished waiters count, on the monotonic clock, in nanoseconds.
    var staysUntil: UInt64 = 0
  }

  private let state = UnfairLock(State())
  private let stay: UInt64

  /// Creates a counter. `seconds` is the time for which a waiter counts after its result.
  public init(staying seconds: Double) { stay = UInt64(seconds * 1e9) }

  /// Calls `body`, which blocks. Counts a waiter meanwhile.
  public func waits<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    state.withLock { $0.waiting += 1 }
    defer { state.withLock { $0.waiting -= 1 } }
    let value = try body()
    let end = Self.now + stay
    state.withLock { $0.staysUntil = max($0.staysUntil, end) }
    return value
  }

  /// Whether any waiter currently counts.
  public var isThere: Bool { state.withLock { $0.waiting > 0 || Self.now < $0.staysUntil } }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
