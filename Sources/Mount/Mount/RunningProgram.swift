internal import Glibc

/// A lookup of the programs that calling processes run.
enum RunningProgram {
  /// Returns the name of the program's executable, without its directory. Returns `nil` if the thread is 0, which means
  /// unknown. Reads /proc.
  static func file(of thread: Int32) -> String? {
    guard thread > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe readlink("/proc/\(thread)/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    // For another user's process, only the thread's name is readable. It is often that of the program.
    guard count > 0 else { return ExactSizePolicy.program(of: thread) }
    let file = buffer[..<count].split(separator: UInt8(ascii: "/")).last ?? []
    return String(decoding: file, as: UTF8.self)
  }
}
