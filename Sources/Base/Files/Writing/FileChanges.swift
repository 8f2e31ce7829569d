public import Bytes
internal import CPosix
internal import Glibc

/// Changes of a file or directory by its descriptor, which may be O_PATH unless noted otherwise. All block on the disk.
public enum FileChanges {
  /// Opens the file of a descriptor again, with flags of open(2).
  public static func open(_ file: Int32, flags: Int32) throws(Fault) -> Descriptor {
    let path = ownPath(of: file)
    return Descriptor(
      owning: try systemCall("open") { unsafe Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) })
  }

  public static func setPermissions(_ file: Int32, _ permissions: UInt16) throws(Fault) {
    // Fails for an O_PATH descriptor.
    if fchmod(file, mode_t(permissions)) == 0 { return }
    let path = ownPath(of: file)
    _ = try systemCall("chmod") { unsafe chmod(path, mode_t(permissions)) }
  }

  /// Checks this process's access with access(2). Throws its error.
  public static func checkAccess(_ file: Int32, _ wanted: Int32) throws(Fault) {
    let path = ownPath(of: file)
    _ = try systemCall("access") { unsafe access(path, wanted) }
  }

  /// Sets the owner and group. Those that are nil do not change.
  public static func setOwner(_ file: Int32, _ owner: UInt32?, _ group: UInt32?) throws(Fault) {
    _ = try systemCall("fchownat") { ffmount_chown(file, owner ?? .max, group ?? .max) }
  }

  /// Sets the times of access and modification, which may be UTIME_NOW or UTIME_OMIT.
  public static func setTimes(_ file: Int32, accessed: Timestamp, modified: Timestamp) throws(Fault) {
    _ = try systemCall("utimensat") {
      ffmount_set_times(file, accessed.seconds, accessed.nanoseconds, modified.seconds, modified.nanoseconds)
    }
  }

  public static func setSize(_ file: Int32, _ size: Int64) throws(Fault) {
    let path = ownPath(of: file)
    _ = try systemCall("truncate") { unsafe truncate(path, off_t(size)) }
  }

  /// Sets the size of a file that is open for writing.
  public static func setSize(ofOpen file: Int32, _ size: Int64) throws(Fault) {
    _ = try systemCall("ftruncate") { ftruncate(file, off_t(size)) }
  }

  /// Writes bytes and returns their number, which is lower if space runs out. Throws if none can be written. Without an
  /// offset, each part is appended.
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

  /// Fills `buffer` from `offset` on. Returns fewer bytes only at the end. Needs a descriptor that is open for reading.
  public static func read(into buffer: UnsafeMutableRawBufferPointer, of file: Int32, at offset: Int64) throws(Fault)
    -> Int
  {
    unsafe try readFully(file, into: buffer, at: offset)
  }

  /// Calls fsync(2) or fdatasync(2). Needs a descriptor that is not O_PATH.
  public static func sync(_ file: Int32, onlyData: Bool) throws(Fault) {
    _ = try systemCall("fsync") { onlyData ? fdatasync(file) : fsync(file) }
  }

  /// Returns another descriptor of the same open file description.
  public static func duplicate(_ file: Int32) throws(Fault) -> Descriptor {
    try opened("dup") { fcntl(file, F_DUPFD_CLOEXEC, 3) }
  }

  /// Returns the access mode of a descriptor: O_RDONLY, O_WRONLY or O_RDWR. Does not block.
  public static func accessMode(of file: Int32) -> Int32 { fcntl(file, F_GETFL) & O_ACCMODE }

  /// Throws the error of close(2) for a copy of the descriptor. Some file systems report a failed write only then.
  public static func flush(_ file: Int32) throws(Fault) {
    let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
    // No descriptor is left. fsync(2) still reports the error.
    guard copy >= 0 else { return }
    guard close(copy) == 0 || errno == EINTR else { throw Fault(.system(errno)) }
  }

  /// Calls fallocate(2). Needs a descriptor that is open for writing.
  public static func allocate(_ file: Int32, mode: Int32, offset: Int64, count: Int64) throws(Fault) {
    _ = try systemCall("fallocate") { ffmount_allocate(file, mode, off_t(offset), off_t(count)) }
  }

  /// Copies at most `count` bytes with copy_file_range(2). Returns their number.
  public static func copy(
    from file: Int32, at offset: Int64, to other: Int32, at otherOffset: Int64, count: Int
  ) throws(Fault) -> Int {
    try systemCall("copy_file_range") { ffmount_copy(file, off_t(offset), other, off_t(otherOffset), count) }
  }

  /// Makes `other`, which is open for writing, share all bytes of `file`. Throws if the file system does not support
  /// that.
  public static func clone(_ file: Int32, to other: Int32) throws(Fault) {
    _ = try systemCall("ioctl") { ffmount_clone(file, other) }
  }

  /// Returns the offset of the next data or hole, like lseek(2) with SEEK_DATA or SEEK_HOLE. Returns `nil` if there is
  /// none.
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
