internal import Bytes
internal import Files
public import FuseLink
internal import Glibc
internal import Locks
internal import Threads
internal import Tree

/// Changes of real files and their attributes, only in a writable mount.
extension MountedTree: WritableFileSystem {
  public var isWritable: Bool { tree.isWritable }

  public func openForWriting(_ request: consuming Request, _ node: UInt64, flags: Int32) {
    let (tree, caller, record) = (tree, caller(request), request.record)
    answer(request, node) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in try tree.open(node, flags: flags, for: caller, record, blocking) }
    } _: { [self] request, file in
      request.reply(handle: file, opening(file, flags))
    }
  }

  /// Returns the options for opening a file that may be written.
  func opening(_ file: Tree.OpenFile, _ flags: Int32) -> Request.OpenOptions {
    let lent = lend(file)
    // With a backing file, the kernel would append even after O_APPEND was cleared. These writes are requested uncached
    // instead. Uncached files have no shared mappings.
    let isUncached = lent != nil && flags & O_APPEND != 0 || file.refusesSharedMappings
    return .init(keepsCache: file.keepsCache, hasOpenEnd: isUncached, flushes: true, lent: lent)
  }

  public func write(
    _ request: consuming Request, _ handle: AnyObject, _ bytes: UnsafeRawBufferPointer, at offset: Int64?
  ) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    do throws(Fault) {
      request.reply(written: unsafe try file.write(bytes, at: offset, for: caller(request), request.record))
    } catch { fail(request, error, file.id) }
  }

  public func flush(_ request: consuming Request, _ handle: AnyObject, owner: UInt64) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    answer(request, file.id) { (blocking) throws(Fault) in
      try file.flush(owner: owner, blocking)
    } _: { [self] request, _ in
      noteMapping(file)
      request.reply(error: 0)
    }
  }

  public func sync(_ request: consuming Request, _ handle: AnyObject, onlyData: Bool) {
    if let folder = handle as? DirectoryHandle {
      return answer(request, folder.folder) { (blocking) throws(Fault) in
        try folder.sync(onlyData: onlyData, blocking)
      } _: { request, _ in
        request.reply(error: 0)
      }
    }
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    answer(request, file.id) { (blocking) throws(Fault) in
      try file.sync(onlyData: onlyData, blocking)
    } _: { [self] request, _ in
      noteMapping(file)
      request.reply(error: 0)
    }
  }

  /// Makes the kernel request the times of a file that may have been changed through a mapping.
  private func noteMapping(_ file: Tree.OpenFile) {
    if file.mayBeMapped { session.withLock { $0 }?.invalidateAttributes(of: file.id) }
  }

  public func allocate(
    _ request: consuming Request, _ handle: AnyObject, mode: Int32, offset: Int64, count: Int64
  ) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    do throws(Fault) {
      try file.allocate(mode: mode, offset: offset, count: count, for: caller(request))
      request.reply(error: 0)
    } catch { fail(request, error, file.id) }
  }

  public func copy(
    _ request: consuming Request, _ handle: AnyObject, from offset: Int64, to other: AnyObject, at otherOffset: Int64,
    count: Int
  ) {
    guard let file = handle as? Tree.OpenFile, let target = other as? Tree.OpenFile else {
      return request.reply(error: EBADF)
    }
    let caller = caller(request)
    answer(request, target.id) { (blocking) throws(Fault) in
      try file.copy(from: offset, to: target, at: otherOffset, count: count, for: caller, blocking)
    } _: { request, count in
      request.reply(written: count)
    }
  }

  public func setAttributes(
    _ request: consuming Request, _ node: UInt64, _ wish: RequestedAttributes, of handle: AnyObject?
  ) {
    let (tree, caller, file) = (tree, caller(request), handle as? Tree.OpenFile)
    let wanted = Tree.AttributeChanges(wish)
    answer(request, node) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in try tree.change(node, wanted, of: file, for: caller, blocking) }
    } _: { request, found in
      request.reply(stat(found.0), lifetime: found.lifetime)
    }
  }

  public func checkAccess(_ request: consuming Request, _ node: UInt64, wanted: Int32) {
    let tree = tree
    answer(request, node) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in try tree.checkAccess(node, wanted, blocking) }
    } _: { request, _ in
      request.reply(error: 0)
    }
  }

  public func setExtendedAttribute(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, to bytes: UnsafeRawBufferPointer?,
    flags: Int32
  ) {
    let (tree, caller, name, record) = (tree, caller(request), unsafe FileName(name), request.record)
    let value = unsafe bytes.map { unsafe Array($0) }
    answer(request, node) { (blocking) throws(Fault) in
      try tree.steady(blocking) { () throws(Fault) in
        try tree.setExtendedAttribute(name, to: value, of: node, flags: flags, for: caller, record)
      }
    } _: { request, _ in
      request.reply(error: 0)
    }
  }

  // MARK: Locks

  public func lockInTheWay(_ request: consuming Request, _ handle: AnyObject, of lock: RangeLock, owner: UInt64) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    do throws(Fault) {
      var found = try file.lockInTheWay(of: FileLock(lock), owner: owner)
      if found.kind != Int16(F_UNLCK), request.awaitReleases() {
        found = try file.lockInTheWay(of: FileLock(lock), owner: owner)
      }
      request.reply(
        RangeLock(kind: found.kind, start: found.start, count: found.count, process: found.process))
    } catch { fail(request, error, file.id) }
  }

  public func setLock(
    _ request: consuming Request, _ handle: AnyObject, _ lock: RangeLock, owner: UInt64, waits: Bool
  ) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    let wanted = FileLock(lock)
    lockQueue.answer(request, at: file.inode, waits: waits, releases: lock.kind != Int16(F_WRLCK)) { () throws(Fault) in
      try file.setLock(wanted, owner: owner)
    }
  }

  public func setLock(_ request: consuming Request, _ handle: AnyObject, whole operation: Int32) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    // LOCK_NB of <sys/file.h>.
    let notBlocking: Int32 = 4
    let wanted = operation & ~notBlocking
    // A conversion releases the lock that it replaces, even if it fails.
    lockQueue.answer(request, at: file.inode, waits: operation & notBlocking == 0, releases: true) { () throws(Fault) in
      try file.setLock(whole: wanted)
    }
  }
}

extension FileLock {
  fileprivate init(_ lock: RangeLock) {
    self.init(kind: lock.kind, start: lock.start, count: lock.count)
  }
}

extension Tree.AttributeChanges {
  fileprivate init(_ wish: RequestedAttributes) {
    self.init()
    (permissions, owner, group, size) = (wish.permissions, wish.owner, wish.group, wish.size)
    clearsSetIDs = wish.isEmpty
    (accessed, modified) = (wish.accessed.map { Timestamp($0) }, wish.modified.map { Timestamp($0) })
  }
}

extension Timestamp {
  fileprivate init(_ time: RequestedAttributes.Time) {
    switch time {
    // UTIME_NOW of <sys/stat.h>.
    case .now: self.init(seconds: 0, nanoseconds: (1 << 30) - 1)
    case .at(let seconds, let nanoseconds): self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
  }
}
