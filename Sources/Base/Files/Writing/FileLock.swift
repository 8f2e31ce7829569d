public import Bytes
internal import CPosix
internal import Glibc

/// LOCK_NB of <sys/file.h>.
private let lockNotBlocking: Int32 = 4

/// A lock of a range of a file, as in fcntl(2). It belongs to an open file description and ends with it.
public struct FileLock: Sendable {
  /// F_RDLCK, F_WRLCK or F_UNLCK.
  public var kind: Int16
  /// The start of the range, in bytes.
  public var start: Int64
  /// The size of the range, in bytes. 0 means to the end, wherever that is.
  public var count: Int64
  /// The process that owns the lock. −1 if it is unknown.
  public var process: Int32 = 0

  public init(kind: Int16, start: Int64, count: Int64) {
    self.kind = kind
    self.start = start
    self.count = count
  }

  /// Sets the lock, or removes locks of the range. Returns false if another owner's lock conflicts.
  public func set(on file: Int32) throws(Fault) -> Bool {
    let (kind, start, count) = (kind, off_t(start), off_t(count))
    return try FileLock.isFree { () throws(Fault) in
      try systemCall("fcntl") { ffmount_set_lock(file, kind, start, count) }
    }
  }

  /// Returns the lock that conflicts with this one. If there is none, the result's kind is F_UNLCK.
  public func inTheWay(on file: Int32) throws(Fault) -> FileLock {
    var (kind, start, count, process) = (kind, off_t(start), off_t(count), pid_t(0))
    _ = try systemCall("fcntl") { unsafe ffmount_get_lock(file, &kind, &start, &count, &process) }
    var found = FileLock(kind: kind, start: Int64(start), count: Int64(count))
    found.process = process
    return found
  }

  /// Calls flock(2) without blocking. Returns false if another owner's lock conflicts.
  public static func set(whole operation: Int32, on file: Int32) throws(Fault) -> Bool {
    try isFree { () throws(Fault) in try systemCall("flock") { ffmount_flock(file, operation | lockNotBlocking) } }
  }

  /// Creates a file in memory on which locks can be set.
  public static func unnamedFile() throws(Fault) -> Descriptor {
    try opened("memfd_create") { unsafe ffmount_memfd("ffmount-lock") }
  }

  private static func isFree(_ attempt: () throws(Fault) -> Int32) throws(Fault) -> Bool {
    do throws(Fault) { _ = try attempt() } catch {
      if error.kind == .system(EAGAIN) || error.kind == .system(EACCES) { return false }
      throw error
    }
    return true
  }
}
