internal import Glibc

/// The memory that this process has, in bytes (statm of proc_pid_statm(5)).
public struct OwnMemory: Sendable {
  public let resident: Int
  /// The part of `resident` that is in no file, and that no other process shares.
  public let anonymous: Int

  /// Returns `nil` if it cannot be read.
  public static var now: OwnMemory? {
    let raw = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    defer { close(raw) }
    var text = [UInt8](repeating: 0, count: 200)
    let count = unsafe read(raw, &text, text.count)
    let words = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    let pages = words.prefix(3).map { Int($0) }
    guard pages.count == 3, let resident = pages[1], let shared = pages[2] else { return nil }
    let size = sysconf(Int32(_SC_PAGESIZE))
    return OwnMemory(resident: resident * size, anonymous: max(0, resident - shared) * size)
  }
}
