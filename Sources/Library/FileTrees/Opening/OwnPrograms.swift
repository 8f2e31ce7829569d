internal import Glibc

/// The programs installed together with this one.
package enum OwnPrograms {
  /// Returns the path of a program, beside this one or where `scripts/install` puts it. Returns `nil` if it does not
  /// exist.
  ///
  /// - Parameter folders: Further directories to search.
  package static func path(of program: String, orIn folders: [String] = []) -> String? {
    var places = folders
    if let own = target(ofLink: "/proc/self/exe") {
      let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
      places = ["\(folder)", "\(folder)/../libexec/ffmount"] + folders
    }
    return places.lazy.map { "\($0)/\(program)" }.first { unsafe access($0, X_OK) == 0 }
  }

  /// The directories in which packages and `scripts/install` put the worker programs.
  package static let installed = ["/usr/libexec/ffmount", "/usr/local/libexec/ffmount"]

  /// Returns the target of a symbolic link. Returns `nil` if the path is not a link.
  package static func target(ofLink path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { buffer in
      unsafe buffer.baseAddress.map { unsafe readlink(path, $0.assumingMemoryBound(to: CChar.self), buffer.count) }
        ?? -1
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
