public import Bytes
internal import Glibc

/// A folder in which nobody but this user and root can put, change or swap anything: where what is kept from one mount to the
/// next may be believed.
///
/// Every folder on the way there is this user's or root's, and writable by nobody else; a folder whose files only their owners
/// may replace, as /tmp is, may be on the way. None of them is a link.
public enum OwnFolder {
  /// Throws with the reason, as the end of a sentence, when `path`, which is absolute, is no such folder. With `making`, what
  /// is missing on the way is made, for this user alone.
  public static func check(_ path: String, making: Bool = false) throws(Fault) {
    guard path.hasPrefix("/") else { throw Fault(.system(EINVAL), "\(path) is no absolute path") }
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
      else { throw Fault(.system(errno), "\(folder) cannot be used") }
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Fault(.system(ENOTDIR), "\(folder) is no folder") }
    guard status.st_uid == geteuid() || (status.st_uid == 0 && !isLast) else {
      throw Fault(.system(EPERM), "\(folder) belongs to another user")
    }
    let isOthersToo = status.st_mode & 0o022 != 0
    // In /tmp nobody takes away or replaces what is another's.
    guard !isOthersToo || (status.st_mode & S_ISVTX != 0 && !isLast) else {
      throw Fault(.system(EPERM), "\(folder) can be written to by others (chmod go-w \(folder))")
    }
  }

  /// Whether a file is a plain one of this user's, with one name, that no other can write to; false when there is none.
  public static func isOwn(file path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && isOwn(status)
  }

  static func isOwn(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
      && status.st_nlink == 1
  }
}
