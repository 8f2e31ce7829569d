public import Synchronization

/// A lock around a value. Threads that wait for it do not take turns.
///
/// An unlock frees the lock and wakes one of the waiting threads. A running thread may take the lock before that one
/// does. Swift's `Mutex` is a priority-inheriting futex on Linux: its unlock passes the lock to a waiting thread. While
/// threads wait, each use of the lock then takes a context switch, and under load this state may not end.
///
/// Not recursive. A critical section must be short and must not wait: see `CancellableLock`.
public struct UnfairLock<Value: ~Copyable>: ~Copyable {
  @usableFromInline let word = LockWord()
  @usableFromInline let value: _Cell<Value>

  /// Creates an unlocked lock around `value`.
  @inlinable
  public init(_ value: consuming sending Value) { self.value = _Cell(value) }

  /// Calls `body` with the lock held. `body` must not use the lock.
  @inlinable
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    word.lock()
    defer { word.unlock() }
    return try unsafe body(&value._address.pointee)
  }

  /// Calls `body` with the lock held. Returns `nil` if another thread holds it.
  @inlinable
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard word.lockIfAvailable() else { return nil }
    defer { word.unlock() }
    return try unsafe body(&value._address.pointee)
  }
}

// Sendable: the value is accessed with the lock held.
extension UnfairLock: @unchecked Sendable where Value: ~Copyable {}
