internal import Glibc

/// What the processes run that ask for something.
enum RunningProgram {
  /// The name of the program's file, without its folder; nil if the thread is 0, which is not known. Reads /proc.
  static func file(of thread: Int32) -> String? {
    guard thread > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe readlink("/proc/\(thread)/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    // Of another user's process only the thread's name may be read, which is the program's as often as not.
    guard count > 0 else { return ExactSizePolicy.program(of: thread) }
    let file = buffer[..<count].split(separator: UInt8(ascii: "/")).last ?? []
    return String(decoding: file, as: UTF8.self)
  }
}
