internal import Bytes
internal import CPosix
internal import Glibc

extension FileStatus {
  /// Calls statx(2) for a directory entry without following a symbolic link. Without a name, the result is that of
  /// `folder`.
  static func of(_ name: UnsafePointer<CChar>?, in folder: Int32) throws(Fault) -> FileStatus {
    var raw = Glibc.stat()
    var time = Timestamp(seconds: 0)
    let result = try systemCall("statx") {
      unsafe ffmount_status(folder, name, &raw, &time.seconds, &time.nanoseconds)
    }
    return FileStatus(raw, created: time.nanoseconds < 0 ? nil : time, isAppendOnly: result == 1)
  }

  /// Returns whether an open file is in an overlayfs.
  public static func isOverlay(_ descriptor: Int32) -> Bool { ffmount_file_system(descriptor) == 0x794c_7630 }
}
