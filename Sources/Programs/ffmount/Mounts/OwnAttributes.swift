import CPosix
import Glibc

/// The attributes `user.ffmount.…` of a file in a mount.
struct OwnAttributes {
  /// The path below the mountpoint.
  let source: String?
  let view: String?
  let state: String?
  let error: String?
  let remark: String?

  /// Reads the attributes. Does not follow a link. Blocks until the mount answers.
  init(of path: String) {
    func value(_ name: String) -> String? {
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      let count = unsafe ffmount_lgetxattr(path, "user.ffmount.\(name)", &buffer, buffer.count)
      return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
    source = value("source")
    view = value("view")
    state = value("state")
    error = value("error")
    remark = value("remark")
  }
}
