internal import Glibc

extension MountOptions {
  /// Returns words of `-o` with absolute file paths, so that they do not depend on the working directory.
  package static func withAbsolutePaths(_ words: [String]) -> [String] {
    guard let folder = unsafe getcwd(nil, 0) else { return words }
    defer { unsafe free(folder) }
    let start = unsafe String(cString: folder)
    return words.map { word in
      split(word).map { option -> String in
        let parts = option.split(separator: "=", maxSplits: 1)
        let isFile = if case .file = table[String(parts.first ?? "")]?.value { true } else { false }
        let path = isFile && parts.count == 2 && !parts[1].hasPrefix("/") ? "\(parts[0])=\(start)/\(parts[1])" : option
        return path.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
      }.joined(separator: ",")
    }
  }
}
