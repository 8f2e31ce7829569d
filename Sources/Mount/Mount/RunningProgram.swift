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
    guard count > 0 else { return name(of: thread) }
    let file = buffer[..<count].split(separator: UInt8(ascii: "/")).last ?? []
    return String(decoding: file, as: UTF8.self)
  }

  /// Returns the part of a program's name that `name` returns.
  static func shown(_ name: String) -> String { String(decoding: name.utf8.prefix(15), as: UTF8.self) }

  /// Returns the name of a thread's program from proc(5), at most 15 bytes: of a script, the script's name, and of a
  /// program for several commands, the command's. Empty if the thread is 0 or cannot be read.
  static func name(of thread: Int32) -> String {
    let descriptor = unsafe open("/proc/\(thread)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = unsafe Glibc.read(descriptor, &name, name.count)
    return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
  }
}
