public import Bytes
internal import CPosix
internal import Glibc

/// Changes of a file or folder by its descriptor, which may be O_PATH unless something else is said. All block on the
/// disk.
public enum FileChanges {
  /// Opens the file of a descriptor again, with flags of open(2).
  public static func open(_ file: Int32, flags: Int32) throws(Fault) -> Descriptor {
    let path = ownPath(of: file)
    return Descriptor(
      owning: try systemCall("open") { unsafe Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) })
  }

  public static func setPermissions(_ file: Int32, _ permissions: UInt16) throws(Fault) {
    let path = ownPath(of: file)
    _ = try systemCall("chmod") { unsafe chmod(path, mode_t(permissions)) }
  }

  /// Throws what access(2) fails with for this process's user.
  public static func checkAccess(_ file: Int32, _ wanted: Int32) throws(Fault) {
    let path = ownPath(of: file)
    _ = try systemCall("access") { unsafe access(path, wanted) }
  }

  /// A nil stays as it is.
  public static func setOwner(_ file: Int32, _ owner: UInt32?, _ group: UInt32?) throws(Fault) {
    _ = try systemCall("fchownat") { ffmount_chown(file, owner ?? .max, group ?? .max) }
  }

  /// The times of access and modification, which may be UTIME_NOW or UTIME_OMIT.
  public static func setTimes(_ file: Int32, accessed: Timestamp, modified: Timestamp) throws(Fault) {
    _ = try systemCall("utimensat") {
      ffmount_set_times(file, accessed.seconds, accessed.nanoseconds, modified.seconds, modified.nanoseconds)
    }
  }

  public static func setSize(_ file: Int32, _ size: Int64) throws(Fault) {
    let path = ownPath(of: file)
    _ = try systemCall("truncate") { unsafe truncate(path, off_t(size)) }
  }

  /// Of a descriptor that is open for writing.
  public static func setSize(ofOpen file: Int32, _ size: Int64) throws(Fault) {
    _ = try systemCall("ftruncate") { ftruncate(file, off_t(size)) }
  }

  /// Writes all bytes, or as many as there is room for; throws if that is none. Without an offset each part is appended.
  public static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int64?) throws(Fault) -> Int {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      do throws(Fault) {
        done += try systemCall("pwrite") {
          guard let offset else { return unsafe ffmount_append(file, rest.baseAddress, rest.count) }
          return unsafe pwrite(file, rest.baseAddress, rest.count, off_t(offset) + done)
        }
      } catch {
        if done == 0 { throw error }
        break
      }
    }
    return done
  }

  /// Fills `buffer` from `offset` on; fewer bytes only at the end. Of a descriptor that is open for reading.
  public static func read(into buffer: UnsafeMutableRawBufferPointer, of file: Int32, at offset: Int64) throws(Fault)
    -> Int
  {
    unsafe try readFully(file, into: buffer, at: offset)
  }

  /// fsync(2) or fdatasync(2). Of a descriptor that is not O_PATH.
  public static func sync(_ file: Int32, onlyData: Bool) throws(Fault) {
    _ = try systemCall("fsync") { onlyData ? fdatasync(file) : fsync(file) }
  }

  /// Another descriptor of the same open file description.
  public static func duplicate(_ file: Int32) throws(Fault) -> Descriptor {
    try opened("dup") { fcntl(file, F_DUPFD_CLOEXEC, 3) }
  }

  /// Whether a descriptor is open for both, as a shared mapping that is written needs. Does not block.
  public static func isReadAndWritten(_ file: Int32) -> Bool { fcntl(file, F_GETFL) & O_ACCMODE == O_RDWR }

  /// What close(2) of a copy of the descriptor says: some file systems tell only then that a write has failed.
  public static func flush(_ file: Int32) throws(Fault) {
    let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
    // With no descriptor left: then fsync(2) says it, as ever.
    guard copy >= 0 else { return }
    guard close(copy) == 0 || errno == EINTR else { throw Fault(.system(errno)) }
  }

  /// fallocate(2), of a descriptor that is open for writing.
  public static func allocate(_ file: Int32, mode: Int32, offset: Int64, count: Int64) throws(Fault) {
    _ = try systemCall("fallocate") { ffmount_allocate(file, mode, off_t(offset), off_t(count)) }
  }

  /// Copies at most `count` bytes by copy_file_range(2); returns how many.
  public static func copy(
    from file: Int32, at offset: Int64, to other: Int32, at otherOffset: Int64, count: Int
  ) throws(Fault) -> Int {
    try systemCall("copy_file_range") { ffmount_copy(file, off_t(offset), other, off_t(otherOffset), count) }
  }

  /// Makes a file, which is open for writing, share all bytes of another. Throws where the file system cannot.
  public static func clone(_ file: Int32, to other: Int32) throws(Fault) {
    _ = try systemCall("ioctl") { ffmount_clone(file, other) }
  }

  /// The next data or hole, as lseek(2) has it with SEEK_DATA and SEEK_HOLE; nil if there is none.
  public static func next(_ area: Area, of file: Int32, from offset: Int64) throws(Fault) -> Int64? {
    // The constants are hidden behind _GNU_SOURCE.
    let whence: Int32 = area == .data ? 3 : 4
    do throws(Fault) { return Int64(try systemCall("lseek") { lseek(file, off_t(offset), whence) }) } catch {
      if error.kind == .system(ENXIO) { return nil }
      throw error
    }
  }

  public static func setAttribute(_ file: Int32, _ name: FileName, _ value: [UInt8], flags: Int32) throws(Fault) {
    let path = ownPath(of: file)
    _ = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("setxattr") { unsafe ffmount_set_attribute(path, name, value, value.count, flags) }
    }
  }

  public static func removeAttribute(_ file: Int32, _ name: FileName) throws(Fault) {
    let path = ownPath(of: file)
    _ = unsafe try name.withCString { (name) throws(Fault) in
      try systemCall("removexattr") { unsafe ffmount_remove_attribute(path, name) }
    }
  }
}
