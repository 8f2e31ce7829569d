public import Bytes
public import Files
internal import Glibc
internal import Locks
internal import Synchronization
internal import Threads

extension Tree {
  /// Registers a handler for files of which a lock may have ended, because they were closed, by inode number. `nil`
  /// removes it.
  ///
  /// The handler is called after the lock has ended, on any thread. It must not call the tree.
  public func whenReleased(_ tell: (@Sendable (UInt64) -> Void)?) { writing?.released.replace(by: tell) }
}

/// Locks of open files. Locks of real files are set in the source, so that they also apply to programs outside the
/// mount. Locks of derived files apply within the mount. None of these functions waits.
extension Tree.OpenFile {
  /// The inode number of the file, the same for all its open files.
  public var inode: UInt64 { node.inode }

  /// Sets or removes a lock of `owner`, like fcntl(2) with F_SETLK. Returns `false` if another owner's lock conflicts.
  public func setLock(_ lock: FileLock, owner: UInt64) throws(Fault) -> Bool {
    guard let writing = tree.writing else { throw .notSupported }
    let file = try lockable()
    let locker = WriteState.Locker(inode: node.inode, owner: owner)
    try checkLost(locker)
    let isLock = lock.kind != Int16(F_UNLCK)
    if !isLock, writing.locks.withLock({ $0[locker] == nil }) { return true }
    let own = writing.ownerLocks(locker)
    if isLock { own.pass(to: file, locker) }
    var record = node.record(of: .lock)
    record.owner = owner
    let isSet = try own.set(lock, handle: file.number.load(ordering: .relaxed)) { [record] () throws(Fault) in
      try file.lock { writing.ledger?.add($0, record) }
    }
    guard let isSet else {
      _ = writing.lost.withLock { $0.insert(locker) }
      throw Self.lost
    }
    return renewed(isLock, isSet)
  }

  /// Invalidates the file after a lock was set. The owner then sees changes made before the lock, even those from
  /// outside the mount.
  private func renewed(_ isLock: Bool, _ isSet: Bool) -> Bool {
    if isLock, isSet, held != nil { tree.noteOutdated([UInt64(node.id)]) }
    return isSet
  }

  /// Returns the lock that conflicts with a lock of `owner`. Its type is F_UNLCK if there is none.
  public func lockInTheWay(of lock: FileLock, owner: UInt64) throws(Fault) -> FileLock {
    let locker = WriteState.Locker(inode: node.inode, owner: owner)
    try checkLost(locker)
    let own = tree.writing?.locks.withLock { $0[locker] }
    if let found = try own?.inTheWay(of: lock) { return found }
    return try lock.inTheWay(on: lockable().raw)
  }

  private static var lost: Fault { Fault(.system(EIO), "locks of the file were lost (close it and open it again)") }

  /// Throws EIO if the owner's locks of the file were lost, with an earlier process or to a program outside the mount.
  private func checkLost(_ locker: WriteState.Locker) throws(Fault) {
    guard let writing = tree.writing, writing.lost.withLock({ $0.contains(locker) }) else { return }
    throw Self.lost
  }

  /// Sets or removes a lock like flock(2), without waiting. Returns `false` if another lock conflicts.
  public func setLock(whole operation: Int32) throws(Fault) -> Bool {
    let file = try lockable()
    file.mayBeLocked.store(true, ordering: .relaxed)
    return renewed(operation & LOCK_UN == 0, try FileLock.set(whole: operation, on: file.raw))
  }

  /// Ends the locks that were set through this file and have not been released, and records for the next process that
  /// the file is closed. Must be called when its last descriptor was closed, since other threads may use this object
  /// longer.
  public func noteReleased() {
    held?.endLocks()
    stand.withLock { $0?.file }?.endLocks()
    held?.entry?.setNumber(0)
    if let held { held.staged?.close(accessMode: held.accessMode) }
  }

  /// Returns the real file, or the file on which a derived file's locks are set.
  private func lockable() throws(Fault) -> OpenFileDescription {
    if let held { return held }
    guard let writing = tree.writing else { throw .notSupported }
    if let stand = stand.withLock({ $0?.file }) { return stand }
    // The descriptor of an earlier process's locks, if any.
    let before = writing.locks.withLock { locks in locks.first { $0.key.inode == node.inode }?.value.first }
    let fresh: LockDescriptor
    if let before {
      fresh = LockDescriptor(try FileChanges.open(before.raw, flags: O_RDWR))
    } else {
      fresh = LockDescriptor(try FileLock.unnamedFile())
    }
    let base = writing.stands.withLock { stands -> LockDescriptor in
      if stands.count.isMultiple(of: 256) { stands = stands.filter { $0.value.object != nil } }
      let base = stands[node.inode]?.object ?? fresh
      stands[node.inode] = WriteState.Weak(object: base)
      return base
    }
    let file = OpenFileDescription(
      try FileChanges.open(base.raw, flags: O_RDWR), accessMode: O_RDWR, nil, inode: node.inode, writing)
    return stand.withLock { stand -> OpenFileDescription in
      let chosen = stand?.file ?? file
      stand = (chosen, base)
      return chosen
    }
  }
}

extension OpenFileDescription {
  /// Opens the same file for the locks of one owner, for reading and writing. If that fails, uses the access mode of
  /// this file, which permits the locks that the kernel requests through it. If the file permits neither,
  /// duplicates the descriptor. The locks of processes that share its open file description are then not distinguished.
  /// `record` records the descriptor.
  fileprivate func lock(_ record: (Int32) -> OpenLedger.Entry?) throws(Fault) -> LockDescriptor {
    for flags in [O_RDWR, O_RDWR | O_APPEND, accessMode] {
      do throws(Fault) {
        let opened = try FileChanges.open(raw, flags: flags)
        let entry = record(opened.raw)
        return LockDescriptor(opened, entry)
      } catch {
        // EPERM: the file is append-only or cannot be changed.
        let isRefused = [EACCES, EPERM, EROFS, ETXTBSY].contains { error.kind == .system($0) }
        guard isRefused else { throw error }
      }
    }
    let own = try FileChanges.duplicate(raw)
    let entry = record(own.raw)
    return LockDescriptor(own, entry)
  }
}
