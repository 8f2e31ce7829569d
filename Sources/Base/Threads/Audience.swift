public import Bytes
internal import Glibc
internal import Synchronization

/// Those for whom something goes on in the background: who waits for it, and for a while those who were answered.
///
/// Who gives up waiting was not answered, and does not count any more.
public final class Audience: Sendable {
  private struct State {
    var waiting = 0
    /// Of the monotonic clock, in nanoseconds.
    var staysUntil: UInt64 = 0
  }

  private let state = Mutex(State())
  private let stay: UInt64

  /// `seconds` is how long somebody who was answered counts.
  public init(staying seconds: Double) { stay = UInt64(seconds * 1e9) }

  /// Calls `body`, which waits, for one of them.
  public func waits<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    state.withLock { $0.waiting += 1 }
    defer { state.withLock { $0.waiting -= 1 } }
    let value = try body()
    let end = Self.now + stay
    state.withLock { $0.staysUntil = max($0.staysUntil, end) }
    return value
  }

  /// Whether there is anybody.
  public var isThere: Bool { state.withLock { $0.waiting > 0 || Self.now < $0.staysUntil } }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
