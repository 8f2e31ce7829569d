public import Bytes
internal import Glibc

/// A value under a lock, with a condition variable for its changes.
@safe public final class Monitor<Value: Sendable>: @unchecked Sendable {
  // Sendable: `value` is accessed with `mutex` held, and the addresses never change.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  public init(_ value: Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe changed = .allocate(capacity: 1)
    unsafe changed.initialize(to: pthread_cond_t())
    // Deadlines are on the monotonic clock.
    var attributes = pthread_condattr_t()
    _ = unsafe pthread_condattr_init(&attributes)
    _ = unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    _ = unsafe pthread_cond_init(changed, &attributes)
    _ = unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    _ = unsafe pthread_mutex_destroy(mutex)
    _ = unsafe pthread_cond_destroy(changed)
    unsafe mutex.deallocate()
    unsafe changed.deallocate()
  }

  /// Reads the value.
  public func read<Result>(_ body: (Value) -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    return body(value)
  }

  /// Changes the value without waking waiters.
  public func change<Result>(_ body: (inout Value) -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    return body(&value)
  }

  /// Changes the value and wakes all waiters.
  public func update<Result>(_ body: (inout Value) -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer {
      _ = unsafe pthread_mutex_unlock(mutex)
      _ = unsafe pthread_cond_broadcast(changed)
    }
    return body(&value)
  }

  /// The interval at which a waiter checks whether its own work is still wanted.
  private static var round: Duration { .milliseconds(100) }

  /// Blocks until `take` returns a value, which it may remove from the state. Throws an interrupted fault if this
  /// thread's work is no longer wanted.
  public func take<Result>(_ take: (inout Value) -> Result?) throws(Fault) -> Result {
    while true {
      if let taken = self.take(within: Self.round, take) { return taken }
      try CancellationToken.check()
    }
  }

  /// Blocks until `answer` returns a value, and returns that. Throws as `take` does.
  public func wait<Result>(_ answer: (Value) -> Result?) throws(Fault) -> Result { try take { answer($0) } }

  /// Blocks until `take` returns a value, which it may remove from the state. Returns `nil` after the timeout `limit`.
  public func take<Result>(within limit: Duration, _ take: (inout Value) -> Result?) -> Result? {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    var end = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &end)
    let (seconds, attoseconds) = limit.components
    let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
    end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    end.tv_nsec = nanoseconds % 1_000_000_000
    while true {
      if let taken = take(&value) { return taken }
      if unsafe pthread_cond_timedwait(changed, mutex, &end) == ETIMEDOUT { return nil }
    }
  }
}
