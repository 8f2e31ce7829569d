public import Bytes
public import Files
internal import Glibc
internal import Synchronization

/// Open real files that can be written.
extension Tree {
  /// Opens a real file with the flags of open(2), of which those count that concern the file's bytes. Throws EROFS for a
  /// file of a view that is to be written, and EACCES unless `asker` may do so at present.
  public func open(
    _ id: UInt64, flags: Int32, for asker: Asker?, _ record: ChangeRecord? = nil
  ) throws(Fault) -> OpenFile {
    _ = try node(id, .blocking)
    try followFolders(above: id, for: asker)
    let reads: UInt16 = flags & O_ACCMODE == O_WRONLY ? 0 : 4
    let writes: UInt16 = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 ? 2 : 0
    return try open(id, flags: flags, reads | writes, for: asker, record)
  }

  /// Opens a real file for a caller that needs the permissions `needed`.
  func open(
    _ id: UInt64, flags: Int32, _ needed: UInt16, for asker: Asker?, _ record: ChangeRecord? = nil
  ) throws(Fault) -> OpenFile {
    let node = try node(id, .blocking)
    guard let writing, let file = node.item as? RealFile else { throw .unchangeable() }
    guard file.kind == .file else { throw .notOpened }
    let wanted = flags & (O_ACCMODE | O_SYNC)
    let author = asker.map { Author(user: $0.user, group: $0.group) }
    var opened: Descriptor?
    do throws(Fault) { opened = try open(file, node, writing, flags: wanted) } catch {
      // Each write says whether it appends, but the file may be one that permits nothing else.
      guard error.kind == .system(EPERM), flags & O_APPEND != 0 else { throw error }
      opened = try open(file, node, writing, flags: wanted | O_APPEND)
    }
    guard let descriptor = opened.take() else { throw .stale }
    if let asker {
      // By the open file: its name may be gone.
      let face = overrides.applied(to: Face(Attributes(try descriptor.status(), inode: node.inode)))
      let raw = descriptor.raw
      let list = try AccessList.ifThere { () throws(Fault) in
        try ExtendedAttributes.value(AccessList.attribute, ofOpen: raw)
      }?.less(overrides.umask)
      guard asker.may(needed, face, list) || keepsHandles && asker.isKernel else { throw Fault(.system(EACCES)) }
    }
    // Not before it is certain which file it is.
    if flags & O_TRUNC != 0, !(record?.inherited?.isDone ?? false) {
      let raw = descriptor.raw
      try changed(by: author) { () throws(Fault) in try FileChanges.setSize(raw, 0) }
      record?.finish()
    }
    let attributes = Attributes(try descriptor.status(), inode: node.inode)
    return try hold(descriptor, as: node, attributes)
  }

  private func open(
    _ file: RealFile, _ node: Node, _ writing: Writing, flags: Int32
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

  /// The open file of a descriptor.
  func hold(_ descriptor: consuming Descriptor, as node: Node, _ attributes: Attributes) throws(Fault) -> OpenFile {
    guard let writing else { throw .unchangeable() }
    let entry = writing.ledger?.add(descriptor.raw, node.record(of: .file))
    let held = HeldFile(descriptor, writing, entry)
    return file(held, as: node, attributes)
  }

  /// The open file of a real one.
  func file(_ held: HeldFile, as node: Node, _ attributes: Attributes) -> OpenFile {
    let revision = node.item.revision(attributes)
    let before = node.cachedRevision.exchange(revision, ordering: .relaxed)
    return OpenFile(
      self, node, held, revision: revision, keepsCache: before == revision, changesAttributes: false, held: held)
  }
}

extension RealFile {
  /// Opens this very file as reading does.
  fileprivate func openForReading() throws(Fault) -> Descriptor {
    try opened { (folder) throws(Fault) in try Descriptor.open(below: folder, path: name, for: .reading) }
  }
}

/// Changes of an open file's bytes: of a real one only. All block on the disk.
extension Tree.OpenFile {
  private func changeable() throws(Fault) -> HeldFile {
    guard let held else { throw .unchangeable() }
    return held
  }

  /// What the kernel reads and writes a real file by itself with, as long as this is open; nil if it does not.
  ///
  /// It is what all have who have the file open. If nobody else has, it is what `lend` makes of a descriptor; if other users
  /// see the mount, without the right to leave the set-id bits of a file that is changed. `lend` must not wait.
  public func lent<Object: AnyObject & Sendable>(_ lend: (Int32) -> Object?) -> Object? {
    guard let held else { return nil }
    var object: Object?
    if node.opened.mayBeLent {
      // One of its own: locks, and the right to write, end with the last reference to what was opened.
      guard let own = try? FileChanges.open(held.raw, flags: O_RDONLY) else { return nil }
      let raw = own.raw
      object = node.opened.lend { tree.isShared ? Author.changeAsAnyone { lend(raw) } : lend(raw) } as? Object
    } else {
      object = node.opened.lend { nil } as? Object
    }
    isLent.store(object != nil, ordering: .relaxed)
    return object
  }

  /// Records for the next process the number that the kernel is about to be told, and that of what it has of the file itself.
  public func note(_ number: UInt64, lent: Int32?) {
    guard let held else { return }
    held.number.store(number, ordering: .relaxed)
    if let lent { held.entry?.setLent(lent) }
    held.entry?.setNumber(number)
  }

  /// Writes bytes at an offset, or at the end if it is nil, and returns how many.
  public func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64?, for asker: Asker?, _ record: ChangeRecord? = nil
  ) throws(Fault) -> Int {
    let held = try changeable()
    let author = asker.map { Author(user: $0.user, group: $0.group) }
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
    return count
  }

  /// How many of the bytes an earlier process has appended to a file that had a size before. Throws EIO if that is unclear.
  private func appended(
    _ bytes: UnsafeRawBufferPointer, to held: HeldFile, after size: Int64
  ) throws(Fault) -> Int {
    let count = try held.status().size - size
    if count == 0 { return 0 }
    let isUnclear = Fault(.system(EIO), "the file was changed from elsewhere")
    guard count > 0, count <= Int64(bytes.count) else { throw isUnclear }
    // Another open file of the same one: this may not be open for reading.
    let reader = try FileChanges.open(held.raw, flags: O_RDONLY)
    let found = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(count), alignment: 1)
    defer { unsafe found.deallocate() }
    let got = unsafe try FileChanges.read(into: found, of: reader.raw, at: size)
    guard got == found.count, unsafe found.elementsEqual(bytes[..<got]) else { throw isUnclear }
    return got
  }

  /// Whether closing this one may end locks that were set through another: the same file is open more than once.
  public var mayEndLocks: Bool { held != nil && node.opened.count > 1 }

  /// Whether others may have changed it through a shared mapping, of which the kernel tells nobody if it has the file lent:
  /// then it has told nobody the new times either.
  public var mayBeMapped: Bool {
    guard let held, isLent.load(ordering: .relaxed) else { return false }
    return FileChanges.isReadAndWritten(held.raw)
  }

  /// Waits until what was written is on the disk. Throws `Fault.later` if `patience` is immediate.
  public func sync(onlyData: Bool, _ patience: Patience) throws(Fault) {
    guard let held else { return }
    if patience == .immediate { throw .later }
    try FileChanges.sync(held.raw, onlyData: onlyData)
  }

  /// What there is to say of earlier writes when a descriptor is closed; its owner's locks end.
  public func flush(owner: UInt64) throws(Fault) {
    guard let held else { return }
    tree.writing?.unlock(Writing.Locker(inode: node.inode, owner: owner))
    try FileChanges.flush(held.raw)
  }

  public func allocate(mode: Int32, offset: Int64, count: Int64, for asker: Asker?) throws(Fault) {
    let held = try changeable()
    let author = asker.map { Author(user: $0.user, group: $0.group) }
    try tree.changed(by: author) { () throws(Fault) in
      try FileChanges.allocate(held.raw, mode: mode, offset: offset, count: count)
    }
  }

  /// What is copied at once without a thread of its own, in bytes.
  private static let shortCopy = 1 << 20

  /// Copies bytes of this file to another; returns how many. Throws EXDEV where one is not real, upon which the kernel
  /// copies them. Throws `Fault.later` for many if `patience` is immediate.
  public func copy(
    from offset: Int64, to other: Tree.OpenFile, at otherOffset: Int64, count: Int, for asker: Asker?,
    _ patience: Patience
  ) throws(Fault) -> Int {
    guard let held, let target = other.held else { throw Fault(.system(EXDEV)) }
    if patience == .immediate, count > Self.shortCopy { throw .later }
    let author = asker.map { Author(user: $0.user, group: $0.group) }
    return try tree.changed(by: author) { () throws(Fault) in
      try FileChanges.copy(from: held.raw, at: offset, to: target.raw, at: otherOffset, count: count)
    }
  }
}

extension Tree.OpenFile {
  /// Makes another file share all bytes of this one. Throws EXDEV where one is not real, and other faults where the file
  /// system cannot.
  public func clone(to other: Tree.OpenFile) throws(Fault) {
    guard let held, let target = other.held else { throw Fault(.system(EXDEV)) }
    try FileChanges.clone(held.raw, to: target.raw)
  }
}

extension HeldFile {
  /// Whether it is open for writing.
  var isWritable: Bool { fcntl(raw, F_GETFL) & O_ACCMODE != O_RDONLY }
}

extension FolderReader {
  /// Waits until the names of a real folder are on the disk. Throws `Fault.later` if `patience` is immediate.
  public func sync(onlyData: Bool, _ patience: Patience) throws(Fault) {
    guard let real = realFolder else { return }
    if patience == .immediate { throw .later }
    let descriptor = try real.path.open(for: .listing)
    try FileChanges.sync(descriptor.raw, onlyData: onlyData)
  }
}

extension Node {
  /// What the next process is told of a descriptor of this file.
  func record(of kind: OpenLedger.Kind) -> OpenLedger.Record {
    var record = OpenLedger.Record(kind)
    (record.node, record.generation, record.inode) = (UInt64(id), generation, inode)
    return record
  }
}
