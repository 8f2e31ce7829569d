public import Bytes
internal import CPosix
internal import Glibc

/// A file without a name, or with a temporary one. Its disk space is freed on deinit.
public final class TemporaryFile: DescriptorHolder {
  private let descriptor: Descriptor
  /// The temporary name, on file systems where an unnamed file cannot get a name later. Removed on deinit.
  private let passingPath: String?

  /// Takes an open file whose name is removed or irrelevant.
  public init(_ descriptor: consuming Descriptor) {
    self.descriptor = descriptor
    passingPath = nil
  }

  deinit { if let passingPath { _ = unsafe unlink(passingPath) } }

  /// Creates a file in memory.
  public static func inMemory() throws(Fault) -> TemporaryFile {
    TemporaryFile(try opened("memfd_create") { unsafe ffmount_memfd("ffmount") })
  }

  /// Creates a file in `folder`. Throws if the directory is not writable.
  public init(in folder: String) throws(Fault) {
    let flags = ffmount_O_TMPFILE | O_RDWR | O_CLOEXEC
    do throws(Fault) {
      descriptor = try opened("open") { unsafe open(folder, flags, 0o600) }
    } catch {
      // Not every file system supports O_TMPFILE.
      guard error.isLackOfUnnamedFiles else { throw error }
      let (raw, path) = try TemporaryFile.named("ffmount.", in: folder)
      descriptor = Descriptor(owning: raw)
      _ = try systemCall("unlink") { unsafe unlink(path) }
    }
    passingPath = nil
  }

  /// Creates a file in `folder` that `link` can give a name there.
  ///
  /// Until then, it is unnamed. If the file system needs a name (NFS, many FUSE file systems), that is `prefix` and
  /// some letters. The file is then locked (shared) as a sign to other processes that it is in use.
  public init(in folder: String, named prefix: String) throws(Fault) {
    let flags = ffmount_O_TMPFILE | O_RDWR | O_CLOEXEC
    do throws(Fault) {
      descriptor = try opened("open") { unsafe open(folder, flags, 0o600) }
      passingPath = nil
    } catch {
      guard error.isLackOfUnnamedFiles else { throw error }
      let (raw, path) = try TemporaryFile.named(prefix, in: folder)
      _ = flock(raw, LOCK_SH | LOCK_NB)
      descriptor = Descriptor(owning: raw)
      passingPath = path
    }
  }

  private static func named(_ prefix: String, in folder: String) throws(Fault) -> (raw: Int32, path: String) {
    var template = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
    let raw = try opened("mkstemp") { unsafe mkstemp(&template) }.release()
    _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
    return (raw, String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// Gives the file a name in the same file system. Throws EEXIST if the name exists, and does not change that file.
  public func link(as path: String) throws(Fault) {
    let here = passingPath ?? "/proc/self/fd/\(descriptor.raw)"
    let flags = passingPath == nil ? AT_SYMLINK_FOLLOW : 0
    do throws(Fault) {
      _ = try systemCall("linkat") { unsafe linkat(AT_FDCWD, here, AT_FDCWD, path, flags) }
    } catch {
      // On file systems without links, the last process wins and replaces the file atomically.
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

  /// Writes bytes. Throws if there is not enough space. Blocks on the disk.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Fault) {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try systemCall("pwrite") {
        unsafe pwrite(descriptor.raw, rest.baseAddress!, rest.count, off_t(offset) + done)
      }
    }
  }

  /// Fills `buffer` with bytes written before. Blocks on the disk.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault) {
    let got = unsafe try readFully(descriptor.raw, into: buffer, at: offset)
    guard got == buffer.count else { throw Fault(.system(EIO), "a temporary file is shorter than the written data") }
  }
}

extension Fault {
  /// Whether the file system does not support files without a name.
  public var isLackOfUnnamedFiles: Bool { [EOPNOTSUPP, EISDIR, ENOSYS].contains { kind == .system($0) } }
}
