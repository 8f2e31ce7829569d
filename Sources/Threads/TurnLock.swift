internal import Glibc

/// A lock that may be held for long, while bytes are decoded or read; its holders are worker threads.
@safe public final class TurnLock: @unchecked Sendable {
  // Sendable: a pthread mutex is made for several threads, and its address never changes.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  public init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    _ = unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    _ = unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  public func lock() { _ = unsafe pthread_mutex_lock(mutex) }
  public func unlock() { _ = unsafe pthread_mutex_unlock(mutex) }
}
