internal import Glibc

/// The programs that are installed with this one.
package enum OwnPrograms {
  /// The path of a program, beside this one or where `scripts/install` puts it; nil if there is none.
  ///
  /// - Parameter folders: where it may be, too.
  package static func path(of program: String, orIn folders: [String] = []) -> String? {
    var places = folders
    if let own = target(ofLink: "/proc/self/exe") {
      let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
      places = ["\(folder)", "\(folder)/../libexec/ffmount"] + folders
    }
    return places.lazy.map { "\($0)/\(program)" }.first { unsafe access($0, X_OK) == 0 }
  }

  /// Where packages and `scripts/install` put the worker programs.
  package static let installed = ["/usr/libexec/ffmount", "/usr/local/libexec/ffmount"]

  /// What a symbolic link says; nil if it is none.
  package static func target(ofLink path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { buffer in
      unsafe buffer.baseAddress.map { unsafe readlink(path, $0.assumingMemoryBound(to: CChar.self), buffer.count) }
        ?? -1
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
