internal import Bytes
internal import Files
internal import Glibc

extension Index {
  /// The reason why nothing can be stored, as the end of a sentence, with a remedy in parentheses. Nil if no reason is
  /// visible, for instance if another program holds the file. A damaged file is not reported, because it is replaced.
  ///
  /// Reads the disk. For a message after a failure.
  public var obstacle: String? {
    guard let folder else { return "no cache folder (set XDG_CACHE_HOME)" }
    do throws(Fault) { try OwnFolder.check(folder) } catch {
      return error.kind == .system(ENOENT) ? nil : error.reason
    }
    for name in ["", "-wal", "-shm"].map({ "\(folder)/\(IndexFile.name)\($0)" }) {
      var status = stat()
      guard unsafe lstat(name, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        return "\(name) is a folder (rm -r \(ShellWord.quoted(name)))"
      }
      if unsafe access(name, W_OK) != 0 { return Self.unwritable(name) }
    }
    if unsafe access(folder, W_OK | X_OK) != 0 { return Self.unwritable(folder) }
    var system = statvfs()
    let isFull = unsafe statvfs(folder, &system) == 0 && system.f_bavail == 0
    return isFull ? "the disk of \(folder) is full (make room on it)" : nil
  }

  private static func unwritable(_ path: String) -> String {
    let reason = unsafe String(cString: strerror(errno))
    return "\(path) cannot be written to: \(reason) (check its permissions, and those of its disk)"
  }

  /// The fault of an operation that has to change the index and cannot.
  var unchanged: Fault {
    Fault(.unsupported, "the index cannot be changed: \(obstacle ?? "another program holds it (try again)")")
  }
}
