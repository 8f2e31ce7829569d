import Bytes
import Glibc

/// The disk usage of a directory.
enum FolderSize {
  /// Returns the size of all files in a directory and its subdirectories, two levels deep, in bytes. Does not follow
  /// links.
  static func of(_ path: String, depth: Int = 2) -> Int64 {
    guard let folder = unsafe opendir(path) else { return 0 }
    defer { unsafe closedir(folder) }
    var size: Int64 = 0
    while let entry = unsafe readdir(folder) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if bytes == [0x2e] || bytes == [0x2e, 0x2e] { continue }
      let inner = "\(path)/\(String(decoding: bytes, as: UTF8.self))"
      var status = stat()
      guard unsafe lstat(inner, &status) == 0 else { continue }
      size = Bounds.sum(size, Bounds.size(blocks: Int64(status.st_blocks)))
      if status.st_mode & S_IFMT == S_IFDIR, depth > 0 { size = Bounds.sum(size, of(inner, depth: depth - 1)) }
    }
    return size
  }
}
