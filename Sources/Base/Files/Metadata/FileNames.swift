internal import Glibc

/// Returns the names of all entries of a directory, unordered. Returns none if it cannot be read. Bytes that are not
/// UTF-8 are replaced. Blocks.
package func fileNames(inFolder path: String) -> [String] {
  guard let stream = unsafe opendir(path) else { return [] }
  defer { unsafe closedir(stream) }
  var names: [String] = []
  while let entry = unsafe readdir(stream) {
    names.append(
      unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      })
  }
  return names
}
