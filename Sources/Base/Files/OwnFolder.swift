public import Bytes
internal import Glibc

/// A directory in which only this user and root can create, change or replace files, so that data kept there between
/// mounts can be trusted.
///
/// Every directory on the path belongs to this user or to root, and only its owner can write to it. A sticky directory,
/// such as /tmp, may be an ancestor. None is a symbolic link.
public enum OwnFolder {
  /// Throws unless `path`, which must be absolute, is such a directory. The fault's reason is the end of a sentence.
  /// With `making`, missing directories on the path are created, for this user only.
  public static func check(_ path: String, making: Bool = false) throws(Fault) {
    guard path.hasPrefix("/") else { throw Fault(.system(EINVAL), "\(path) is not an absolute path") }
    try check(folder: "/", isLast: path == "/")
    let names = path.split(separator: "/")
    for count in names.indices {
      try check(folder: "/" + names[...count].joined(separator: "/"), isLast: count == names.count - 1, making: making)
    }
  }

  private static func check(folder: String, isLast: Bool, making: Bool = false) throws(Fault) {
    var status = stat()
    if unsafe lstat(folder, &status) != 0 {
      guard errno == ENOENT, making, unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST,
        unsafe lstat(folder, &status) == 0
      else {
        let code = errno
        let cause = unsafe String(cString: strerror(code))
        throw Fault(.system(code), "\(folder) cannot be used: \(cause) (use a folder of yours)")
      }
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw Fault(.system(ENOTDIR), "\(folder) is not a folder (move it away)")
    }
    guard status.st_uid == geteuid() || (status.st_uid == 0 && !isLast) else {
      throw Fault(.system(EPERM), "\(folder) belongs to another user (use a folder of yours)")
    }
    let isOthersToo = status.st_mode & 0o022 != 0
    // In a sticky directory, only a file's owner can remove or replace it.
    guard !isOthersToo || (status.st_mode & S_ISVTX != 0 && !isLast) else {
      throw Fault(.system(EPERM), "\(folder) can be written to by other users (chmod go-w \(ShellWord.quoted(folder)))")
    }
  }

  /// Returns whether a path is a regular file of this user, with one link and not writable by others. Returns false if
  /// it does not exist.
  public static func isOwn(file path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && isOwn(status)
  }

  static func isOwn(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
      && status.st_nlink == 1
  }
}
