public import Bytes
public import Glibc

/// The unchanged result of statx(2), for display. Arithmetic needs bounds (`Bounds`).
public struct FileStatus: Sendable {
  public let raw: stat
  /// The creation time. Nil if the file system does not record it.
  public let created: Timestamp?
  /// Whether bytes can only be appended to the file (chattr(1) `+a`).
  public let isAppendOnly: Bool

  init(_ raw: stat, created: Timestamp? = nil, isAppendOnly: Bool = false) {
    self.raw = raw
    self.created = created
    self.isAppendOnly = isAppendOnly
  }

  public init(of descriptor: Int32) throws(Fault) { self = try unsafe Self.of(nil, in: descriptor) }

  /// Reads the status of a directory entry without following a symbolic link.
  public init(of name: FileName, in folder: Int32) throws(Fault) {
    self = try unsafe name.withCString { (name) throws(Fault) in unsafe try Self.of(name, in: folder) }
  }

  /// Reads the status of a listed directory entry without following a symbolic link.
  public init(of name: ListedName, in folder: Int32) throws(Fault) {
    var fault: Fault?
    let found = unsafe name.withCString { name -> FileStatus? in
      do throws(Fault) { return unsafe try Self.of(name, in: folder) } catch {
        fault = error
        return nil
      }
    }
    guard let found else { throw fault ?? Fault(.system(ENOENT)) }
    self = found
  }

  public var device: UInt64 { UInt64(raw.st_dev) }
  public var inode: UInt64 { UInt64(raw.st_ino) }
  public var size: Int64 { Int64(raw.st_size) }
  public var type: mode_t { raw.st_mode & S_IFMT }
  public var modified: Timestamp { Timestamp(raw.st_mtim) }
  public var accessed: Timestamp { Timestamp(raw.st_atim) }
  public var changed: Timestamp { Timestamp(raw.st_ctim) }

  /// A hash that identifies the file's content as last written, regardless of other changes. For files whose mtime is
  /// never set back.
  public var revision: UInt64 {
    var hash = StableHash()
    hash.combine(device)
    hash.combine(inode)
    hash.combine(UInt64(bitPattern: size))
    hash.combine(UInt64(bitPattern: modified.seconds))
    hash.combine(UInt64(UInt32(bitPattern: modified.nanoseconds)))
    return hash.value
  }

  /// Returns whether this is the same state of the same file as `earlier`: equal size and times.
  ///
  /// The ctime of an unlinked file does not count. Unlinking changes it, and the file can no longer be opened for
  /// writing.
  public func isSameState(as earlier: FileStatus) -> Bool {
    inode == earlier.inode && device == earlier.device && size == earlier.size && modified == earlier.modified
      && (changed == earlier.changed || raw.st_nlink == 0)
  }
}

extension FileStatus {
  /// Returns whether any change after `now` shows in the file's times.
  ///
  /// Kernels update file times in ticks of up to 10 ms, and some file systems in whole or even seconds.
  func isSettled(at now: Timestamp) -> Bool { modified.isPast(at: now) && changed.isPast(at: now) }
}

extension Timestamp {
  /// Returns whether a file that is changed after `now` gets another time than this one. See `FileStatus.isSettled`.
  public func isPast(at now: Timestamp) -> Bool {
    let age = Double(now.seconds) - Double(seconds) + Double(now.nanoseconds - nanoseconds) / 1e9
    // A later change may also have a time that is currently in the future.
    return abs(age) > (nanoseconds == 0 ? 2 : 0.02)
  }
}

extension Timestamp {
  public static var now: Timestamp {
    var time = Glibc.timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time)
  }

  public init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int32(clamping: time.tv_nsec)) }
  public var timespec: timespec { Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)) }
}

/// Returns the time of the monotonic clock.
public func monotonicNanoseconds() -> UInt64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// Returns the processor time used by this process.
public func processorNanoseconds() -> UInt64 { nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(of clock: clockid_t) -> UInt64 {
  var time = timespec()
  _ = unsafe clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
