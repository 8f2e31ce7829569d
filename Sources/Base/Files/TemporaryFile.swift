public import Bytes
internal import CPosix
internal import Glibc

/// An unnamed file, whose disk space is freed on deinit.
public final class TemporaryFile: DescriptorHolder {
  private let descriptor: Descriptor

  /// Takes an open file that has no name any more, or none that matters.
  public init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// Creates one in memory.
  public static func inMemory() throws(Fault) -> TemporaryFile {
    TemporaryFile(Descriptor(owning: try systemCall("memfd_create") { unsafe ffmount_memfd("ffmount") }))
  }

  /// Creates one in `folder`. Throws when the directory is not writable.
  public init(in folder: String) throws(Fault) {
    let flags = ffmount_O_TMPFILE | O_RDWR | O_CLOEXEC
    do throws(Fault) {
      descriptor = Descriptor(owning: try systemCall("open") { unsafe open(folder, flags, 0o600) })
    } catch {
      // Not every file system supports O_TMPFILE.
      guard error.kind == .system(EOPNOTSUPP) || error.kind == .system(EISDIR) else { throw error }
      descriptor = try TemporaryFile.unnamed(in: folder)
    }
  }

  private static func unnamed(in folder: String) throws(Fault) -> Descriptor {
    var template = Array("\(folder)/ffmount.XXXXXX".utf8CString)
    let opened = Descriptor(owning: try systemCall("mkstemp") { unsafe mkstemp(&template) })
    _ = fcntl(opened.raw, F_SETFD, FD_CLOEXEC)
    _ = try systemCall("unlink") { unsafe unlink(template) }
    return opened
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
