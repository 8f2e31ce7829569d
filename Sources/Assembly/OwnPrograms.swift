internal import Glibc

/// The programs that are installed with this one.
package enum OwnPrograms {
  /// The path of a program, beside this one or where `scripts/install` puts it; nil if there is none.
  package static func path(of program: String) -> String? {
    guard let own = target(ofLink: "/proc/self/exe") else { return nil }
    let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
    return ["\(folder)/\(program)", "\(folder)/../libexec/ffmount/\(program)"].first { unsafe access($0, X_OK) == 0 }
  }

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
