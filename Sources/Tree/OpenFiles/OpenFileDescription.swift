internal import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Synchronization
internal import Threads

/// An open real file in a writable mount. Its descriptor stays open as long as the file, even if the name is removed.
final class OpenFileDescription: ByteSource, DescriptorHolder {
  /// The descriptor, which this object owns.
  let raw: Int32
  /// The access mode: O_RDONLY, O_WRONLY or O_RDWR.
  let accessMode: Int32
  /// Whether bytes can only be appended to the file.
  let isAppendOnly: Bool
  /// Whether closing a descriptor may report the failure of an earlier write.
  private let reportsAtClose: Bool
  private let inode: UInt64
  private let writing: WriteState
  /// The locks that were set through this file. They end with it if the file was closed without a flush.
  let lockers = UnfairLock<[WriteState.Locker: WriteState.Weak<OwnerLocks>]>([:])
  /// Whether a lock of flock(2) may have been set through this file.
  let mayBeLocked = Atomic<Bool>(false)
  /// The record for the next process. `nil` if there will be none.
  let entry: OpenLedger.Entry?
  /// The file of another machine of which this is the local copy. `nil` for other files.
  let staged: (any StagedFile)?
  /// The kernel's handle. 0 if unknown.
  let number = Atomic<UInt64>(0)

  /// Creates an open file. `inode` is the number by which its node is known. `status` is that of the file, or `nil` for
  /// one of which closing reports nothing and that is not append-only.
  init(
    _ descriptor: consuming Descriptor, accessMode: Int32, _ status: FileStatus?, inode: UInt64, _ writing: WriteState,
    _ entry: OpenLedger.Entry? = nil, staged: (any StagedFile)? = nil
  ) {
    raw = descriptor.release()
    self.accessMode = accessMode
    isAppendOnly = status?.isAppendOnly ?? false
    reportsAtClose = status?.reportsAtClose(raw) ?? false
    self.inode = inode
    self.writing = writing
    self.entry = entry
    self.staged = staged
  }

  deinit {
    entry?.remove()
    endLocks()
    _ = close(raw)
    writing.released(inode)
  }

  /// Ends the locks that were set through the file and have not been released.
  func endLocks() {
    // Before this release was read, the owner may have closed the file and set another lock through another open file.
    let left = lockers.withLock { lockers in
      defer { lockers = [:] }
      return lockers
    }
    for (locker, reference) in left {
      if let locks = reference.object { writing.unlock(locker, only: locks) }
    }
    if mayBeLocked.exchange(false, ordering: .relaxed) {
      _ = try? FileLock.set(whole: LOCK_UN, on: raw)
      writing.released(inode)
    }
  }

  func status() throws(Fault) -> FileStatus { try FileStatus(of: raw) }

  /// Throws the error of an earlier write that the file system reports when a descriptor is closed, if any.
  func flush() throws(Fault) {
    if reportsAtClose { try FileChanges.flush(raw) }
  }

  var isOpenForWriting: Bool { accessMode != O_RDONLY }

  /// Throws EIO unless the file is open for writing. The kernel requests changes only through such files. If one is
  /// not, its descriptor was lost together with an earlier process, and the file has been reopened for reading.
  func checkWritable() throws(Fault) {
    if isOpenForWriting { return }
    throw Fault(.system(EIO), "the process that held the open file has ended (close it and open it again)")
  }

  var size: Int64 { (try? status().size) ?? 0 }
  var identity: ByteIdentity? { nil }
  var isSettling: Bool { false }

  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result {
    try body(raw)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    unsafe try FileChanges.read(into: buffer, of: raw, at: offset)
  }

  func extent(at offset: Int64, count: Int) -> Extent? { Extent(holder: self, offset: offset, count: count) }

  func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? {
    try FileChanges.next(area, of: raw, from: offset)
  }
}
