internal import CPosix
internal import Glibc

/// A thread by its kernel thread id.
public struct KernelThread: Sendable, Hashable {
  private let number: Int32

  private init(_ number: Int32) { self.number = number }

  public static var current: KernelThread { KernelThread(ffmount_thread()) }

  /// Whether it is blocked, on the disk or a lock, rather than runnable. Takes some microseconds.
  public var isAsleep: Bool { Self.state(at: "/proc/self/task/\(number)/stat").map { $0 != UInt8(ascii: "R") } ?? true }

  /// Whether the thread with this id, of any process, has ended or is a zombie.
  public static func hasEnded(_ number: Int32) -> Bool {
    guard number > 0, seesNumbers else { return false }
    guard let state = state(at: "/proc/\(number)/stat") else { return true }
    return [UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(state)
  }

  /// Whether /proc shows this process's PID namespace.
  private static let seesNumbers: Bool = {
    var buffer = [CChar](repeating: 0, count: 16)
    let count = unsafe readlink("/proc/self", &buffer, buffer.count)
    guard count > 0 else { return false }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) == "\(getpid())"
  }()

  /// The state letter after the command name, which stands in parentheses and may contain some.
  private static func state(at path: String) -> UInt8? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = unsafe read(file, &buffer, buffer.count)
    guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return nil }
    return buffer[end + 2]
  }
}
