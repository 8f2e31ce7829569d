internal import CPosix
internal import Glibc

/// A thread, identified by its kernel thread ID.
public struct KernelThread: Sendable, Hashable {
  private let number: Int32

  private init(_ number: Int32) { self.number = number }

  public static var current: KernelThread { KernelThread(ffmount_thread()) }

  /// Whether the thread is blocked, on the disk or a lock, rather than runnable. Takes some microseconds.
  public var isAsleep: Bool { Self.state(at: "/proc/self/task/\(number)/stat").map { $0 != UInt8(ascii: "R") } ?? true }

  /// Returns whether the thread with this ID, of any process, has ended or is a zombie.
  public static func hasEnded(_ number: Int32) -> Bool {
    guard number > 0, seesNumbers else { return false }
    guard let state = state(at: "/proc/\(number)/stat") else { return true }
    return [UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(state)
  }

  /// Returns whether a signal ends the thread with this ID, of any process, as soon as it returns from the kernel. That
  /// is SIGKILL, or another signal that the process does not handle. Returns true if this cannot be determined.
  public static func isBeingKilled(_ number: Int32) -> Bool {
    guard number > 0, seesNumbers, let fields = fields(upTo: pendingField, at: "/proc/\(number)/stat"),
      fields.count > pendingField,
      let pending = UInt64(String(decoding: fields[pendingField], as: UTF8.self))
    else { return true }
    // The kernel adds SIGKILL to the pending signals of each thread of a process that a signal ends.
    return pending & 1 << UInt64(SIGKILL - 1) != 0
  }

  /// The position of a thread's pending signals in proc_pid_stat(5), counted from the state, which is the third field.
  private static let pendingField = 31 - 3

  /// Whether /proc shows this process's PID namespace.
  private static let seesNumbers: Bool = {
    var buffer = [CChar](repeating: 0, count: 16)
    let count = unsafe readlink("/proc/self", &buffer, buffer.count)
    guard count > 0 else { return false }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) == "\(getpid())"
  }()

  /// Returns the state letter after the command name, which is in parentheses and may contain some.
  private static func state(at path: String) -> UInt8? { fields(upTo: 0, at: path)?.first?.first }

  /// Returns the fields after the command name. Fields after `last` are not separated.
  private static func fields(upTo last: Int, at path: String) -> [ArraySlice<UInt8>]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(file, &buffer, buffer.count)
    guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return nil }
    return buffer[(end + 2)..<count].split(separator: UInt8(ascii: " "), maxSplits: last + 1)
  }
}
