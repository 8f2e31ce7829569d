public import Bytes
internal import Glibc
internal import Synchronization

/// An open regular file as a byte source.
public final class FileSource: ByteSource {
  private let descriptor: PooledDescriptor
  /// The file's state when it was opened.
  public let opened: FileStatus
  /// The device for the identity.
  private let device: UInt64
  /// Whether a change of the file is a fault: true for files that views are derived from, false for mirrored ones.
  private let isPinned: Bool
  /// Whether any later change of the file will show in its times.
  private let isSettled: Bool
  /// Whether results that are made of the file may be stored.
  private let isLasting: Bool
  private let ahead = ReadAhead()
  /// Whether the file is on another machine or served by another program: 0 until it is known, 1 or 2.
  private let distance = Atomic<UInt8>(0)
  /// Ends the use of the file by caches when it is removed.
  private let removal: RemovalWatch?

  public var size: Int64 { opened.size }

  /// - Parameters:
  ///   - device: The device for the identity. Nil means the file's own.
  ///   - isLasting: Whether results that are made of the file may be stored.
  public init(
    _ descriptor: PooledDescriptor, opened: FileStatus, device: UInt64? = nil, isPinned: Bool, isLasting: Bool = true
  ) {
    self.descriptor = descriptor
    self.opened = opened
    self.device = device ?? opened.device
    self.isPinned = isPinned
    self.isLasting = isLasting
    isSettled = isPinned && opened.isSettled(at: .now)
    removal = isPinned ? RemovalNotices.shared.watch(descriptor, opened: opened) : nil
  }

  /// The identity of the file. Nil for a file that was written just before it was opened: a change within the same tick
  /// of its timestamps would not show. Nil also for a file that may change unnoticed while it is open, and for one of
  /// which nothing may be stored.
  public var identity: ByteIdentity? {
    guard isPinned, isSettled, isLasting else { return nil }
    return ByteIdentity(
      device: device, inode: opened.inode, size: opened.size, modified: opened.modified,
      changed: opened.changed)
  }

  public var isSettling: Bool { isPinned && !isSettled }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    let pinned = isPinned ? opened : nil
    return try descriptor.withDescriptor { (descriptor) throws(Fault) in
      let count = unsafe try readFully(descriptor, into: buffer, at: offset)
      ahead.note(descriptor, of: opened, at: offset, count: count)
      // Checked after the read: bytes that were read before a change shows are intact.
      try FileSource.check(descriptor, against: pinned)
      return count
    }
  }

  /// Returns the file's current status, even if its name leads to another file.
  public func status() throws(Fault) -> FileStatus {
    try descriptor.withDescriptor { (descriptor) throws(Fault) in try FileStatus(of: descriptor) }
  }

  public func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result {
    try descriptor.withDescriptor(body)
  }

  /// The current absolute path of the file. Nil if it cannot be determined. For a removed file, it ends in `
  /// (deleted)`.
  public var path: String? {
    (try? descriptor.withDescriptor { (descriptor) throws(Fault) in absolutePath(of: descriptor) }) ?? nil
  }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    Extent(holder: descriptor, offset: offset, count: count, mayFail: isDistant)
  }

  public func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? {
    // SEEK_DATA and SEEK_HOLE are hidden behind _GNU_SOURCE. No read depends on the descriptor's position.
    let whence: Int32 = area == .data ? 3 : 4
    do throws(Fault) {
      return try descriptor.withDescriptor { (descriptor) throws(Fault) in
        Int64(try systemCall("lseek") { lseek(descriptor, off_t(offset), whence) })
      }
    } catch {
      if error.kind == .system(ENXIO) { return nil }
      throw error
    }
  }

  public func verify() throws(Fault) {
    guard isPinned else { return }
    let opened = opened
    try descriptor.withDescriptor { (descriptor) throws(Fault) in
      try FileSource.check(descriptor, against: opened)
    }
  }

  private static func check(_ descriptor: Int32, against opened: FileStatus?) throws(Fault) {
    guard let opened else { return }
    let now = try FileStatus(of: descriptor)
    guard now.isSameState(as: opened) else { throw Fault(.changed, "the file changed while it was open") }
  }
}

extension FileSource {
  /// Whether the file is on another machine or served by another program. Reads may then take long. May block the first
  /// time.
  package var isDistant: Bool {
    let known = distance.load(ordering: .relaxed)
    if known > 0 { return known == 2 }
    let opened = opened
    let found = try? descriptor.withDescriptor { (descriptor) throws(Fault) in opened.isDistant(descriptor) }
    if let found { distance.store(found ? 2 : 1, ordering: .relaxed) }
    return found ?? true
  }
}

extension FileStatus {
  /// Returns whether the file with this open descriptor is on another machine or served by another program. May block
  /// on the first call for a device.
  package func isDistant(_ descriptor: Int32) -> Bool { DistantFiles.contains(descriptor, of: device) }

  /// Returns whether close(2) may report the failure of an earlier write to the file, as on NFS. On file systems of this
  /// machine, it does not. May block on the first call for a file system.
  package func reportsAtClose(_ descriptor: Int32) -> Bool { DistantFiles.reportAtClose(descriptor, of: device) }
}

extension FileSource {
  /// Returns the result of `open`, retried after a short delay if that yields an identity. A file that was just written
  /// can change again without a change of its times.
  ///
  /// Blocks for the delay. Throws `Fault.later` instead if `blocking` is immediate.
  public static func settled(
    _ blocking: BlockingMode, _ open: (BlockingMode) throws(Fault) -> any ByteSource
  ) throws(Fault) -> any ByteSource {
    let bytes = try open(blocking)
    guard bytes.isSettling else { return bytes }
    if blocking == .immediate { throw .later }
    _ = usleep(25_000)
    return try open(blocking)
  }
}

/// Returns the current absolute path of an open file or directory. Returns `nil` if it cannot be determined. For a
/// removed one, it ends in ` (deleted)`.
public func absolutePath(of descriptor: Int32) -> String? {
  var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe buffer.withUnsafeMutableBytes {
    unsafe readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
  }
  return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
}
