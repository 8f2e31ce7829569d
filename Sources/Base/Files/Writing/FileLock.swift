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

  /// Creates a lock of the bytes of a range. A range to `Int64.max` extends to the end of the file.
  private init(kind: Int16, _ range: ClosedRange<Int64>) {
    self.init(
      kind: kind, start: range.lowerBound,
      count: range.upperBound == .max ? 0 : range.upperBound - range.lowerBound + 1)
  }

  /// The offsets of the locked bytes.
  private var range: ClosedRange<Int64> {
    let (last, isEndless) = start.addingReportingOverflow(count - 1)
    return start...(count == 0 || isEndless ? .max : max(start, last))
  }

  /// The lock that removes this one.
  public var removal: FileLock { FileLock(kind: Int16(F_UNLCK), start: start, count: count) }

  /// Returns the part of this lock that is in the range of another one. Returns `nil` if there is none.
  public func part(in other: FileLock) -> FileLock? {
    range.overlaps(other.range) ? FileLock(kind: kind, range.clamped(to: other.range)) : nil
  }

  /// Returns the parts of this lock that are outside the range of another one.
  public func parts(outside other: FileLock) -> [FileLock] {
    guard range.overlaps(other.range) else { return [self] }
    var parts: [FileLock] = []
    if start < other.start { parts.append(FileLock(kind: kind, start...(other.start - 1))) }
    let (last, end) = (range.upperBound, other.range.upperBound)
    if end < last { parts.append(FileLock(kind: kind, (end + 1)...last)) }
    return parts
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

  /// Returns the locks that an open file description has, as the kernel lists them in proc_pid_fdinfo(5). Locks that the
  /// file system manages by itself are not listed.
  public static func held(by file: Int32) throws(Fault) -> [FileLock] {
    let list = try Descriptor.open(path: "/proc/self/fdinfo/\(file)", for: .reading)
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = try systemCall("read") { unsafe read(list.raw, &buffer, buffer.count) }
      if count == 0 { break }
      text += buffer[..<count]
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap(FileLock.init(listed:))
  }

  /// Reads a line with the type of a lock and, at the end, its first and last byte:
  /// `lock: 1: OFDLCK ADVISORY  READ -1 fe:00:1234 0 EOF`.
  private init?(listed line: Substring) {
    let fields = line.split(whereSeparator: \.isWhitespace)
    guard fields.count > 6, fields[0] == "lock:", fields[2] == "OFDLCK", let first = Int64(fields[fields.count - 2]),
      let last = fields[fields.count - 1] == "EOF" ? Int64.max : Int64(fields[fields.count - 1]), first <= last
    else { return nil }
    self.init(kind: Int16(fields.contains("WRITE") ? F_WRLCK : F_RDLCK), first...last)
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
