internal import CPosix
internal import Synchronization

/// The futex of an `UnfairLock`.
@safe @usableFromInline
struct LockWord: ~Copyable, @unchecked Sendable {
  // Sendable: accessed by atomic operations only.
  private let word: _Cell<UInt32>

  @usableFromInline
  init() { word = _Cell(0) }

  @usableFromInline
  borrowing func lock() { unsafe ffmount_lock(word._address) }

  @usableFromInline
  borrowing func lockIfAvailable() -> Bool { unsafe ffmount_try_lock(word._address) != 0 }

  @usableFromInline
  borrowing func unlock() { unsafe ffmount_unlock(word._address) }
}
