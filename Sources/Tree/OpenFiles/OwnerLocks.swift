internal import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Threads

/// The locks of one owner on one file. They end at the latest when this object is released.
///
/// They are set through a descriptor of their own, so that they do not conflict with each other. If its access mode does
/// not permit a lock, and the file can no longer be opened for reading and writing, there is a second one.
final class OwnerLocks: Sendable {
  /// The descriptors, up to two. No byte is locked through both.
  private let descriptors = UnfairLock<[LockDescriptor]>([])
  /// Held during a request, since one may take several system calls. No other lock is acquired meanwhile.
  private let request = CancellableLock()
  /// Called with the file's inode number after the locks have ended.
  private let released: Handler<UInt64>
  private let inode: UInt64
  /// The open file through which the last lock was set.
  private let holder = UnfairLock(WriteState.Weak<OpenFileDescription>())

  init(inode: UInt64, released: Handler<UInt64>) { (self.inode, self.released) = (inode, released) }

  deinit { end() }

  /// Ends the locks. Must be called when the owner closes the file, since other threads may use this object longer.
  func end() {
    let ended = descriptors.withLock { descriptors in
      defer { descriptors = [] }
      return descriptors
    }
    for descriptor in ended { descriptor.endLocks() }
    released(inode)
  }

  /// Ends the locks with `file`, through which the next one is set, and no longer with the file before. Another process
  /// may have a copy of that one's descriptor, whose end must not end a later lock.
  func pass(to file: OpenFileDescription, _ locker: WriteState.Locker) {
    let before = holder.withLock { holder in
      defer { holder.object = file }
      return holder.object
    }
    if let before, before !== file { before.lockers.withLock { $0[locker] = nil } }
    file.lockers.withLock { $0[locker] = WriteState.Weak(object: self) }
  }

  /// A descriptor of the file. `nil` if no lock was set.
  var first: LockDescriptor? { descriptors.withLock { $0.first } }

  func add(_ descriptor: LockDescriptor) { descriptors.withLock { $0.append(descriptor) } }

  /// Sets or removes a lock. Returns `false` if another owner's lock conflicts, and `nil` if locks that were set before
  /// were lost.
  ///
  /// - Parameters:
  ///   - handle: the kernel's handle of the open file that the lock is set through.
  ///   - open: returns a new descriptor that permits the lock.
  func set(_ lock: FileLock, handle: UInt64, open: () throws(Fault) -> LockDescriptor) throws(Fault) -> Bool? {
    try request.lock()
    defer { request.unlock() }
    let present = descriptors.withLock { $0 }
    if lock.kind == Int16(F_UNLCK) {
      for descriptor in present { _ = try lock.set(on: descriptor.raw) }
      return true
    }
    let target: LockDescriptor
    if let last = present.last(where: { $0.permits(lock.kind) }) {
      target = last
    } else {
      target = try open()
      add(target)
    }
    target.entry?.setNumber(handle)
    // The locks that would conflict although they are this owner's.
    var released: [(descriptor: LockDescriptor, lock: FileLock)] = []
    for other in present where other !== target {
      for held in try FileLock.held(by: other.raw) {
        guard let part = held.part(in: lock) else { continue }
        if part.kind == Int16(F_RDLCK), target.permits(part.kind) {
          // Moves without a moment in which it is not held.
          _ = try part.set(on: target.raw)
        } else {
          released.append((other, part))
        }
        _ = try part.removal.set(on: other.raw)
      }
    }
    if try lock.set(on: target.raw) { return true }
    for (other, part) in released {
      guard try part.set(on: other.raw) else { return nil }
    }
    return false
  }

  /// Returns the lock of another owner that conflicts with `lock`. Its type is F_UNLCK if there is none. Returns `nil` if
  /// this owner has not set a lock.
  func inTheWay(of lock: FileLock) throws(Fault) -> FileLock? {
    let present = descriptors.withLock { $0 }
    guard let first = present.first else { return nil }
    var rest = [lock]
    // Bytes that are locked through one descriptor are not examined through the other one, for which that lock conflicts.
    if present.count > 1 {
      for descriptor in present {
        for held in try FileLock.held(by: descriptor.raw) {
          if let part = lock.part(in: held) {
            let found = try part.inTheWay(on: descriptor.raw)
            if found.kind != Int16(F_UNLCK) { return found }
          }
          rest = rest.flatMap { $0.parts(outside: held) }
        }
      }
    }
    for part in rest {
      let found = try part.inTheWay(on: first.raw)
      if found.kind != Int16(F_UNLCK) { return found }
    }
    return lock.removal
  }
}
