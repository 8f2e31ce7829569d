public import Bytes
internal import CPosix
internal import Glibc

/// A file without a name, or one for the time being, whose disk space is freed on deinit.
public final class TemporaryFile: DescriptorHolder {
  private let descriptor: Descriptor
  /// Where no file can be without a name and get one later; removed on deinit.
  private let passingPath: String?

  /// Takes an open file that has no name any more, or none that matters.
  public init(_ descriptor: consuming Descriptor) {
    self.descriptor = descriptor
    passingPath = nil
  }

  deinit { if let passingPath { _ = unsafe unlink(passingPath) } }

  /// Creates one in memory.
  public static func inMemory() throws(Fault) -> TemporaryFile {
    TemporaryFile(try opened("memfd_create") { unsafe ffmount_memfd("ffmount") })
  }

  /// Creates one in `folder`. Throws when the directory is not writable.
  public init(in folder: String) throws(Fault) {
    let flags = ffmount_O_TMPFILE | O_RDWR | O_CLOEXEC
    do throws(Fault) {
      descriptor = try opened("open") { unsafe open(folder, flags, 0o600) }
    } catch {
      // Not every file system supports O_TMPFILE.
      guard TemporaryFile.saysThatItLacksThem(error) else { throw error }
      let (raw, path) = try TemporaryFile.named("ffmount.", in: folder)
      descriptor = Descriptor(owning: raw)
      _ = try systemCall("unlink") { unsafe unlink(path) }
    }
    passingPath = nil
  }

  /// Creates one in `folder` that `link` can give a name there, and until then has none, or where the file system asks for
  /// one (NFS, many of FUSE) `prefix` and some letters; then it is locked (shared), so that others know that it is in use.
  public init(in folder: String, named prefix: String) throws(Fault) {
    let flags = ffmount_O_TMPFILE | O_RDWR | O_CLOEXEC
    do throws(Fault) {
      descriptor = try opened("open") { unsafe open(folder, flags, 0o600) }
      passingPath = nil
    } catch {
      guard TemporaryFile.saysThatItLacksThem(error) else { throw error }
      let (raw, path) = try TemporaryFile.named(prefix, in: folder)
      _ = flock(raw, LOCK_SH | LOCK_NB)
      descriptor = Descriptor(owning: raw)
      passingPath = path
    }
  }

  private static func saysThatItLacksThem(_ fault: Fault) -> Bool {
    fault.kind == .system(EOPNOTSUPP) || fault.kind == .system(EISDIR) || fault.kind == .system(ENOSYS)
  }

  private static func named(_ prefix: String, in folder: String) throws(Fault) -> (raw: Int32, path: String) {
    var template = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
    let raw = try opened("mkstemp") { unsafe mkstemp(&template) }.release()
    _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
    return (raw, String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// Gives the file a name in the same file system; throws EEXIST where there is something of that name, which stays.
  public func link(as path: String) throws(Fault) {
    let here = passingPath ?? "/proc/self/fd/\(descriptor.raw)"
    let flags = passingPath == nil ? AT_SYMLINK_FOLLOW : 0
    do throws(Fault) {
      _ = try systemCall("linkat") { unsafe linkat(AT_FDCWD, here, AT_FDCWD, path, flags) }
    } catch {
      // File systems without links: whoever is last wins, at once and with all of it.
      guard passingPath != nil, [.system(EPERM), .system(EOPNOTSUPP), .system(ENOSYS)].contains(error.kind) else {
        throw error
      }
      if unsafe access(path, F_OK) == 0 { throw Fault(.system(EEXIST)) }
      _ = try systemCall("rename") { unsafe rename(here, path) }
    }
  }

  public func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result {
    try body(descriptor.raw)
  }

  /// Throws when there is no space. Blocks on the disk.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Fault) {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try systemCall("pwrite") {
        unsafe pwrite(descriptor.raw, rest.baseAddress!, rest.count, off_t(offset) + done)
      }
    }
  }

  /// Fills `buffer` with what was written there. Blocks on the disk.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault) {
    let got = unsafe try readFully(descriptor.raw, into: buffer, at: offset)
    guard got == buffer.count else { throw Fault(.system(EIO), "a temporary file is shorter than what was written") }
  }
}
