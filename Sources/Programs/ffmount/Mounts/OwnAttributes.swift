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
  /// The number of results of a search.
  let results: String?

  /// Reads the attributes. Does not follow a link. Blocks until the mount answers.
  init(of path: String) {
    func value(_ name: String) -> String? { Self.bytes(name, of: path).map { String(decoding: $0, as: UTF8.self) } }
    source = value("source")
    view = value("view")
    state = value("state")
    error = value("error")
    remark = value("remark")
    results = value("results")
  }

  /// Returns the paths of the first files in an archive's view that its directory says are encrypted. Files whose path
  /// is not UTF-8 are left out. Blocks until the mount answers.
  static func encryptedPaths(in view: String) -> [String] {
    (bytes("encrypted", of: view) ?? []).split(separator: 0).compactMap { String(validating: $0, as: UTF8.self) }
      .map { "\(view)/\($0)" }
  }

  private static func bytes(_ name: String, of path: String) -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe ffmount_lgetxattr(path, "user.ffmount.\(name)", &buffer, buffer.count)
    return count >= 0 ? buffer[..<count] : nil
  }
}
