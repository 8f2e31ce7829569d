public import Bytes
internal import CPosix
internal import Glibc
internal import Threads

/// An open file descriptor, closed on deinit.
public struct Descriptor: ~Copyable, Sendable {
  public let raw: Int32

  /// Takes ownership of `raw`.
  public init(owning raw: Int32) { self.raw = raw }

  deinit { _ = close(raw) }

  /// Gives up ownership without closing the descriptor.
  public consuming func release() -> Int32 {
    let raw = raw
    discard self
    return raw
  }
}

extension Descriptor {
  /// Opens the null device for each of standard input, output and error that is closed. Writes to such an output fail.
  ///
  /// Must be called before anything else by programs that other programs start. Otherwise a file could get such a
  /// descriptor. Messages would then overwrite it, or code that leaves the terminal would close it.
  public static func fillStandard() {
    while true {
      let raw = unsafe Glibc.open("/dev/null", O_RDONLY)
      if raw > STDERR_FILENO { _ = close(raw) }
      if raw < 0 || raw >= STDERR_FILENO { return }
    }
  }
}

/// Retries a system call on EINTR. Throws other failures with their errno and `call`'s name.
@inline(__always)
func systemCall<Value: FixedWidthInteger>(
  _ call: @autoclosure () -> StaticString, _ body: () -> Value
) throws(Fault) -> Value {
  while true {
    let value = body()
    if value != -1 { return value }
    let code = errno
    if code != EINTR { throw Fault(.system(code), call().description) }
  }
}

/// Calls `body`, which returns a new descriptor, within the budget of the process. Throws failures as `systemCall`
/// does.
func opened(_ call: @autoclosure () -> StaticString, _ body: () -> Int32) throws(Fault) -> Descriptor {
  Descriptor(owning: try systemCall(call()) { DescriptorBudget.process.open(body) })
}

extension Descriptor {
  /// The purpose for which a file is opened.
  public enum Purpose: Sendable {
    case reading
    case listing
    /// O_PATH: only as the start of other paths.
    case place
  }

  /// Opens `path`, following symbolic links. For the command line, not for names inside a tree.
  public static func open(path: String, for purpose: Purpose) throws(Fault) -> Descriptor {
    let flags = purpose.flags
    return try opened("open") { unsafe Glibc.open(path, flags) }
  }

  /// Opens `path`, names joined by `/`, below `folder`. Never follows a symbolic link and never leaves `folder`.
  ///
  /// Reading does not change the access time if the system permits that. Never waits for a FIFO's other end.
  public static func open(below folder: Int32, path: FileName, for purpose: Purpose) throws(Fault) -> Descriptor {
    let resolve = ffmount_RESOLVE_BENEATH | ffmount_RESOLVE_NO_SYMLINKS
    let flags = UInt64(UInt32(bitPattern: purpose.flags | O_NOFOLLOW))
    let quiet = purpose == .place ? 0 : UInt64(ffmount_O_NOATIME)
    let raw = unsafe try path.withCString { (path) throws(Fault) in
      do throws(Fault) {
        return try opened("openat2") { unsafe ffmount_openat2(folder, path, flags | quiet, resolve) }.release()
      } catch  where error.kind == .system(EPERM) && quiet != 0 {
        // O_NOATIME is permitted only to the file's owner.
        return try opened("openat2") { unsafe ffmount_openat2(folder, path, flags, resolve) }.release()
      }
    }
    return Descriptor(owning: raw)
  }

  /// Opens the file or directory of another descriptor again, even if its name has changed.
  public static func open(again other: Int32, for purpose: Purpose) throws(Fault) -> Descriptor {
    let (path, flags) = (ownPath(of: other), purpose.flags)
    return try opened("open") { unsafe Glibc.open(path, flags) }
  }

  /// Opens the file at `path` for reading and writing. If necessary, creates it with access for this user only.
  public static func open(creating path: String) throws(Fault) -> Descriptor {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    return try opened("open") { unsafe Glibc.open(path, flags, 0o600) }
  }

  public func status() throws(Fault) -> FileStatus { try FileStatus(of: raw) }
}

extension Descriptor.Purpose {
  var flags: Int32 {
    switch self {
    case .reading: O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    case .listing: O_RDONLY | O_CLOEXEC | O_DIRECTORY
    case .place: ffmount_O_PATH | O_CLOEXEC
    }
  }
}

/// Fills `buffer` from `offset` on; returns fewer bytes only at the end of the file. Blocks on the disk.
func readFully(
  _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
) throws(Fault) -> Int {
  var done = 0
  while done < buffer.count {
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
    let got = try systemCall("pread") { unsafe pread(descriptor, rest.baseAddress!, rest.count, off_t(offset) + done) }
    if got == 0 { break }
    done += got
  }
  return done
}
