internal import Glibc

/// The names of all that is in a folder, in no order; none if it cannot be read. What is not UTF-8 in a name is replaced.
/// Blocks.
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
