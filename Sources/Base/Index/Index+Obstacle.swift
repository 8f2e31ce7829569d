internal import Bytes
internal import Files
internal import Glibc

extension Index {
  /// Why nothing can be kept, as the end of a sentence with what to do in parentheses; nil if no reason can be seen, as when another program holds the
  /// file. Says nothing of a file that is only damaged, as that is replaced.
  ///
  /// Looks at the disk; for a message after a failure.
  public var obstacle: String? {
    guard let folder else { return "there is no folder of yours to keep anything in (set XDG_CACHE_HOME)" }
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

  /// The failure of what cannot do without a change of the index.
  var unchanged: Fault {
    Fault(.unsupported, "the index cannot be changed: \(obstacle ?? "another program holds it (try again)")")
  }
}
