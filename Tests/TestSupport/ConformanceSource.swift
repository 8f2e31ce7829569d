public import Bytes
public import Foundation

/// A folder of real files to mount; removed with its last reference.
public final class SourceFolder: Sendable {
  /// The absolute path.
  public let path: String

  /// Creates the folder below `base`, by default the folder for temporary files.
  public init(in base: String? = nil) throws {
    let base = base ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/ffmount-source.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw FileTreeError(errno: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private func full(_ name: FileName) -> FileName { FileName(path).slash(name) }

  private func check(_ result: Int32) throws {
    if result != 0 { throw FileTreeError(errno: errno) }
  }

  /// Creates a file, or overwrites an existing one in place.
  public func write(_ name: FileName, _ bytes: [UInt8], mode: mode_t = 0o644) throws {
    let descriptor = unsafe full(name).withCString { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode) }
    guard descriptor >= 0 else { throw FileTreeError(errno: errno) }
    defer { close(descriptor) }
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Foundation.write(descriptor, $0.baseAddress! + done, $0.count - done)
      }
      guard count > 0 else { throw FileTreeError(errno: errno) }
      done += count
    }
    try check(fchmod(descriptor, mode))
  }

  public func write(_ name: FileName, _ text: String) throws { try write(name, Array(text.utf8)) }
  public func write(_ name: FileName, _ archive: ZipFixture) throws { try write(name, archive.bytes()) }

  /// Creates a file of `size` bytes, a hole except for `tail` at its end.
  public func writeSparse(_ name: FileName, size: Int64, tail: [UInt8]) throws {
    try write(name, [])
    let descriptor = unsafe full(name).withCString { unsafe open($0, O_WRONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw FileTreeError(errno: errno) }
    defer { close(descriptor) }
    try check(ftruncate(descriptor, off_t(size)))
    let written = unsafe tail.withUnsafeBytes {
      unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(size) - off_t(tail.count))
    }
    guard written == tail.count else { throw FileTreeError(errno: errno) }
  }

  public func makeFolder(_ name: FileName, mode: mode_t = 0o755) throws {
    try check(unsafe full(name).withCString { unsafe mkdir($0, mode) })
    try check(unsafe full(name).withCString { unsafe chmod($0, mode) })
  }

  public func makeLink(_ name: FileName, to target: FileName) throws {
    try check(unsafe full(name).withCString { name in unsafe target.withCString { unsafe symlink($0, name) } })
  }

  public func makeHardLink(_ name: FileName, to present: FileName) throws {
    try check(
      unsafe full(present).withCString { present in unsafe full(name).withCString { unsafe link(present, $0) } })
  }

  public func makeFifo(_ name: FileName) throws {
    try check(unsafe full(name).withCString { unsafe mkfifo($0, 0o600) })
  }

  public func rename(_ name: FileName, to new: FileName) throws {
    try check(
      unsafe full(name).withCString { name in unsafe full(new).withCString { unsafe Foundation.rename(name, $0) } })
  }

  public func remove(_ name: FileName) throws { try check(unsafe full(name).withCString { unsafe unlink($0) }) }

  public func setModified(_ name: FileName, _ time: Timestamp) throws {
    let times = Array(repeating: timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds)), count: 2)
    try check(unsafe full(name).withCString { unsafe utimensat(AT_FDCWD, $0, times, AT_SYMLINK_NOFOLLOW) })
  }

  /// Returns false if the user may not.
  public func setOwner(_ name: FileName, _ owner: uid_t, _ group: gid_t) -> Bool {
    unsafe full(name).withCString { unsafe lchown($0, owner, group) } == 0
  }

  /// Returns false if the file system or the machine does not support it.
  public func setAttribute(_ name: String, of file: String, to value: String) throws -> Bool {
    try Python.output(of: "import os; os.setxattr('\(path)/\(file)', '\(name)', b'\(value)')") != nil
  }

  /// How many descriptors of this process refer to the folder or files in it.
  public func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.hasPrefix(path) ?? false
    }
  }

  /// The device number of its file system.
  public func device() throws -> UInt64 {
    var raw = Foundation.stat()
    try check(unsafe lstat(path, &raw))
    return UInt64(raw.st_dev)
  }

  /// As lstat(2).
  public func status(_ name: FileName) throws -> FileTreeStatus {
    var raw = Foundation.stat()
    try check(unsafe full(name).withCString { unsafe lstat($0, &raw) })
    return FileTreeStatus(raw)
  }
}

extension FileTreeStatus {
  public init(_ raw: stat) {
    let kind: Kind =
      switch raw.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    self.init(
      kind: kind, inode: UInt64(raw.st_ino), permissions: UInt16(raw.st_mode & 0o7777), links: UInt64(raw.st_nlink),
      owner: raw.st_uid, group: raw.st_gid, size: Int64(raw.st_size),
      modified: Timestamp(seconds: Int64(raw.st_mtim.tv_sec), nanoseconds: Int32(raw.st_mtim.tv_nsec)))
  }
}
