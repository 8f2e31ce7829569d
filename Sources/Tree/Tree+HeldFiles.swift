public import Bytes
public import Files
internal import Glibc
internal import Synchronization
internal import Threads

/// Open real files in a writable mount.
extension Tree {
  /// Opens a real file. Ignores open(2) flags that do not affect its data. Throws EROFS if a file of a view is opened
  /// for writing, and EACCES unless `caller` currently has permission.
  public func open(
    _ id: UInt64, flags: Int32, for caller: Credentials?, _ record: ChangeRecord? = nil,
    _ blocking: BlockingMode = .blocking
  ) throws(Fault) -> OpenFile {
    let node = try node(id, .blocking)
    if let item = distant(node) { return try open(item, node, flags: flags, for: caller, blocking) }
    try followFolders(above: id, for: caller)
    let reads: UInt16 = flags & O_ACCMODE == O_WRONLY ? 0 : 4
    let writes: UInt16 = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 ? 2 : 0
    return try open(id, flags: flags, reads | writes, for: caller, record)
  }

  /// Opens a real file for a caller that needs the permissions `needed`.
  func open(
    _ id: UInt64, flags: Int32, _ needed: UInt16, for caller: Credentials?, _ record: ChangeRecord? = nil
  ) throws(Fault) -> OpenFile {
    let node = try node(id, .blocking)
    guard writing != nil, let file = node.item as? RealFile else { throw .unchangeable() }
    guard file.kind == .file else { throw .notOpened }
    let wanted = flags & (O_ACCMODE | O_SYNC)
    let author = caller.map { FileOwner(user: $0.user, group: $0.group) }
    var opened: Descriptor?
    do throws(Fault) { opened = try open(file, node, flags: wanted) } catch {
      // Each write specifies whether it appends, but the file may be append-only.
      guard error.kind == .system(EPERM), flags & O_APPEND != 0 else { throw error }
      opened = try open(file, node, flags: wanted | O_APPEND)
    }
    guard let descriptor = opened.take() else { throw .stale }
    if let caller { try check(needed, node, ofOpen: descriptor.raw, for: caller) }
    // The file is truncated only after it is certain which one it is.
    if flags & O_TRUNC != 0, !(record?.inherited?.isDone ?? false) {
      let raw = descriptor.raw
      try changed(by: author) { () throws(Fault) in
        // Unlike truncate(2), both set the times of an empty file, too.
        if flags & O_ACCMODE != O_RDONLY { return try FileChanges.setSize(ofOpen: raw, 0) }
        _ = try FileChanges.open(raw, flags: O_WRONLY | O_TRUNC)
      }
      record?.finish()
    }
    let status = try descriptor.status()
    return try hold(descriptor, as: node, status, accessMode: flags & O_ACCMODE)
  }

  fileprivate func open(
    _ file: RealFile, _ node: Node, flags: Int32
  ) throws(Fault) -> Descriptor {
    do throws(Fault) {
      return try byName(node, file) { (file) throws(Fault) in
        try flags == O_RDONLY ? file.openForReading() : file.open(flags: flags)
      }
    } catch {
      guard error.isAboutName, let held = node.opened.held else { throw error }
      return try FileChanges.open(held.raw, flags: flags)
    }
  }

  /// Returns an open file for a descriptor.
  func hold(_ descriptor: consuming Descriptor, as node: Node, _ status: FileStatus, accessMode: Int32) throws(Fault)
    -> OpenFile
  {
    guard let writing else { throw .unchangeable() }
    let entry = writing.ledger?.add(descriptor.raw, node.record(of: .file))
    let held = OpenFileDescription(descriptor, accessMode: accessMode, status, inode: node.inode, writing, entry)
    return file(held, as: node, status)
  }

  /// Returns an open file for an open file description.
  func file(_ held: OpenFileDescription, as node: Node, _ status: FileStatus) -> OpenFile {
    let revision = node.item.revision(Attributes(status, inode: node.inode))
    let before = node.cachedRevision.exchange(revision, ordering: .relaxed)
    return OpenFile(
      self, node, held, revision: revision, keepsCache: before == revision, changesAttributes: false, held: held)
  }
}

extension RealFile {
  /// Opens the file for reading. Throws ESTALE if the name belongs to another file.
  fileprivate func openForReading() throws(Fault) -> Descriptor {
    try opened { (folder) throws(Fault) in try Descriptor.open(below: folder, path: name, for: .reading) }
  }
}

/// Changes of an open real file's bytes. All block on the disk.
extension Tree.OpenFile {
  /// Returns the open file description. Throws EIO if it is not open for writing.
  private func changeable() throws(Fault) -> OpenFileDescription {
    guard let held else { throw .unchangeable() }
    try held.checkWritable()
    return held
  }

  /// Returns the backing file with which the kernel accesses a real file while it is open. Returns `nil` if there is
  /// none.
  ///
  /// All open files of the node have the same one. If no other is open, `lend` creates it from a descriptor. In a
  /// shared mount, `lend` is called without CAP_FSETID, so that changes clear set-ID bits. `lend` must not block.
  ///
  /// An append-only file has none: the kernel would permit a shared mapping, whose stores overwrite bytes.
  public func lent<Object: AnyObject & Sendable>(_ lend: (Int32) -> Object?) -> Object? {
    guard let held, held.staged == nil, !held.isAppendOnly, let file = node.item as? RealFile else { return nil }
    var object: Object?
    if node.opened.mayBeLent {
      // A separate open file description: locks and write access end only with its last reference.
      guard let own = try? tree.open(file, node, flags: O_RDONLY) else { return nil }
      let raw = own.raw
      object = node.opened.lend { tree.isShared ? FileOwner.changeAsAnyone { lend(raw) } : lend(raw) } as? Object
    } else {
      object = node.opened.lend { nil } as? Object
    }
    isLent.store(object != nil, ordering: .relaxed)
    return object
  }

  /// Records for the next process the handle that the kernel is about to receive and the ID of its backing file.
  public func note(_ number: UInt64, lent: Int32?) {
    guard let held else { return }
    held.number.store(number, ordering: .relaxed)
    if let lent { held.entry?.setLent(lent) }
    held.entry?.setNumber(number)
  }

  /// Writes bytes at an offset, or at the end if it is `nil`. Returns the number of bytes written.
  public func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64?, for caller: Credentials?, _ record: ChangeRecord? = nil
  ) throws(Fault) -> Int {
    let held = try changeable()
    let author = caller.map { FileOwner(user: $0.user, group: $0.group) }
    var done = 0
    if offset == nil, let record {
      if let before = record.inherited {
        if before.isDone { return Int(before.result) }
        done = unsafe try appended(bytes, to: held, after: Int64(before.first))
      }
      if done == bytes.count { return done }
      record.begin(UInt64(try held.status().size - Int64(done)))
    }
    let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
    let count = try tree.changed(by: author) { () throws(Fault) in
      done + (unsafe try FileChanges.write(rest, to: held.raw, at: offset))
    }
    if offset == nil { record?.finish(UInt64(count)) }
    held.staged?.noteChange()
    return count
  }

  /// Returns the number of the bytes that an earlier process has appended to a file of size `size`. Throws EIO if that
  /// cannot be determined.
  private func appended(
    _ bytes: UnsafeRawBufferPointer, to held: OpenFileDescription, after size: Int64
  ) throws(Fault) -> Int {
    let count = try held.status().size - size
    if count == 0 { return 0 }
    let isUnclear = Fault(.system(EIO), "the file was changed by another program")
    guard count > 0, count <= Int64(bytes.count) else { throw isUnclear }
    // A separate open file, since this one may not be open for reading.
    let reader = try FileChanges.open(held.raw, flags: O_RDONLY)
    let found = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(count), alignment: 1)
    defer { unsafe found.deallocate() }
    let got = unsafe try FileChanges.read(into: found, of: reader.raw, at: size)
    guard got == found.count, unsafe found.elementsEqual(bytes[..<got]) else { throw isUnclear }
    return got
  }

  /// Whether closing this file may end locks, even those that were set through another one.
  ///
  /// Assumes so if the file is open more than once, or if programs lock files of this mount. Without a flush, locks end
  /// with the release, which can be answered after the same owner has closed the file and set the next lock.
  public var mayEndLocks: Bool {
    held != nil && (node.opened.count > 1 || tree.writing?.hasHadLocks.load(ordering: .relaxed) == true)
  }

  /// Whether only bytes can be appended, so that no shared mapping may be written.
  public var refusesSharedMappings: Bool { held.map { $0.isAppendOnly && $0.isOpenForWriting } ?? false }

  /// Whether the file may have been changed through a shared mapping. The kernel reports neither these changes nor the
  /// new times of a file that has a backing file.
  public var mayBeMapped: Bool {
    guard let held, isLent.load(ordering: .relaxed) else { return false }
    // As a writable shared mapping needs.
    return held.accessMode == O_RDWR
  }

  /// Waits until written data is on the disk. Throws `Fault.later` if `blocking` is immediate.
  public func sync(onlyData: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard let held else { return }
    if blocking == .immediate { throw .later }
    if let staged = held.staged { return try send(staged) }
    try FileChanges.sync(held.raw, onlyData: onlyData)
  }

  /// Sends the bytes of a file of another machine. There, its directory has another modification time afterwards.
  func send(_ staged: any StagedFile) throws(Fault) {
    try staged.send()
    if let folder = node.parent { tree.noteOutdated([UInt64(folder.id)]) }
  }

  /// Releases the owner's locks when a descriptor is closed. Throws the error of an earlier write, if any. Sends the bytes
  /// of a file of another machine; throws `Fault.later` then if `blocking` is immediate.
  public func flush(owner: UInt64, _ blocking: BlockingMode = .blocking) throws(Fault) {
    guard let held else { return }
    if let staged = held.staged, held.isOpenForWriting, staged.mustSend {
      if blocking == .immediate { throw .later }
      defer { tree.writing?.unlock(WriteState.Locker(inode: node.inode, owner: owner)) }
      return try send(staged)
    }
    tree.writing?.unlock(WriteState.Locker(inode: node.inode, owner: owner))
    try held.flush()
  }

  public func allocate(mode: Int32, offset: Int64, count: Int64, for caller: Credentials?) throws(Fault) {
    let held = try changeable()
    let author = caller.map { FileOwner(user: $0.user, group: $0.group) }
    try tree.changed(by: author) { () throws(Fault) in
      try FileChanges.allocate(held.raw, mode: mode, offset: offset, count: count)
    }
    held.staged?.noteChange()
  }

  /// The maximum size of a copy without a thread of its own, in bytes.
  private static let shortCopy = 1 << 20

  /// Copies bytes of this file to another. Returns the number of bytes copied. Throws EXDEV if one of the files is not
  /// real. The kernel then copies the bytes. Throws `Fault.later` for a large copy if `blocking` is immediate.
  public func copy(
    from offset: Int64, to other: Tree.OpenFile, at otherOffset: Int64, count: Int, for caller: Credentials?,
    _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard let held, let target = other.held else { throw Fault(.system(EXDEV)) }
    try target.checkWritable()
    if blocking == .immediate, count > Self.shortCopy { throw .later }
    let author = caller.map { FileOwner(user: $0.user, group: $0.group) }
    defer { target.staged?.noteChange() }
    return try tree.changed(by: author) { () throws(Fault) in
      try FileChanges.copy(from: held.raw, at: offset, to: target.raw, at: otherOffset, count: count)
    }
  }
}

extension Tree.OpenFile {
  /// Makes another file share all bytes of this one. Throws EXDEV if one of them is not real, and other faults if the
  /// file system does not support it.
  public func clone(to other: Tree.OpenFile) throws(Fault) {
    guard let held, let target = other.held else { throw Fault(.system(EXDEV)) }
    try FileChanges.clone(held.raw, to: target.raw)
  }
}

extension DirectoryHandle {
  /// Waits until the names of a real directory are on the disk. Throws `Fault.later` if `blocking` is immediate.
  public func sync(onlyData: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard let real = realFolder else { return }
    if blocking == .immediate { throw .later }
    let descriptor = try real.path.open(for: .listing)
    try FileChanges.sync(descriptor.raw, onlyData: onlyData)
  }
}

extension Node {
  /// Returns the record of a descriptor of this file for the next process.
  func record(of kind: OpenLedger.Kind) -> OpenLedger.Record {
    var record = OpenLedger.Record(kind)
    (record.node, record.generation, record.inode) = (UInt64(id), generation, inode)
    return record
  }
}
