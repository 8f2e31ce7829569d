internal import CPosix
internal import FileTrees
package import Files
internal import Glibc

/// The connection of a serving process to `ffkeep`, the supervisor that starts another process when this one dies.
package struct Supervision: Sendable {
  /// The number of this process among those of the mount, from 0.
  package let ordinal: UInt16
  /// The socket of the supervisor.
  private let socket: Int32
  private let memory: Int32
  /// The FUSE connection. `nil` in the first process.
  package let connection: Int32?
  /// The descriptor to which the first process reports the result of its start. `nil` if no process waits for it.
  package let report: Int32?
  /// Whether the supervisor can answer requests with EIO. Earlier versions cannot.
  package let canRefuse: Bool
  /// Whether the supervisor takes over the open files of a process that dies. Earlier versions do not.
  package let canHold: Bool
  /// Whether the previous process was replaced because it used too much memory.
  package let followsLarge: Bool

  private static let variable = "FFMOUNT_KEPT"

  /// Returns the supervision of this process, and removes it from the environment that other programs inherit. Returns
  /// `nil` if no supervisor started this process.
  ///
  /// - Parameter own: the name of this program.
  package static func taken(by own: String = "ffmount") -> Supervision? {
    guard let value = unsafe getenv(variable) else { return nil }
    let numbers = unsafe String(cString: value).split(separator: " ").compactMap { Int32($0) }
    _ = unsafe unsetenv(variable)
    // A supervisor that was started before an upgrade passes fewer values.
    guard numbers.count >= 5, let ordinal = UInt16(exactly: numbers[0]), numbers[1] > 2, numbers[2] > 2 else {
      return nil
    }
    // The name of a process that is started from a descriptor is the descriptor's number.
    if let name = unsafe fopen("/proc/self/comm", "we") {
      _ = unsafe fputs(own, name)
      _ = unsafe fclose(name)
    }
    for number in numbers[1..<5] where number > 2 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return Supervision(
      ordinal: ordinal, socket: numbers[1], memory: numbers[2], connection: numbers[3] < 0 ? nil : numbers[3],
      report: numbers[4] < 0 ? nil : numbers[4],
      canRefuse: numbers.count > 6, canHold: numbers.count > 7, followsLarge: numbers.count > 5 && numbers[5] != 0)
  }

  private static let program = "ffkeep"

  /// Whether the supervisor is installed.
  package static var isPossible: Bool { OwnPrograms.path(of: program) != nil }

  /// Replaces this process by a supervisor, which starts this program with `arguments`. Returns only by throwing an
  /// error.
  ///
  /// - Parameters:
  ///   - report: The descriptor to which the first process reports the result of its start.
  ///   - memory: The memory beyond which a process is replaced, in bytes.
  ///   - unmounts: Whether a mount that no process can serve is unmounted.
  package static func become(report: Int32?, memory: Int64, unmounts: Bool, _ arguments: [String]) throws {
    guard let keeper = OwnPrograms.path(of: program), let own = OwnPrograms.target(ofLink: "/proc/self/exe") else {
      throw Refusal(.failure, "cannot supervise the mount: ffkeep is missing (install it, or use -o supervise=off)")
    }
    if let report { _ = fcntl(report, F_SETFD, 0) }
    let words =
      [keeper, "\(report ?? -1)", "\(memory >> 10)", unmounts ? "unmount" : "refuse", own, CommandLine.arguments[0]]
      + arguments
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    _ = unsafe execv(keeper, &pointers)
    throw Refusal(.failure, "cannot supervise the mount: \(keeper): \(describe(errno)) (use -o supervise=off)")
  }

  /// Returns the supervisor of a serving process. Returns `nil` if it has none.
  package static func keeper(of process: Int32) -> Int32? {
    guard let parent = ProcessTable.program(of: process)?.parent else { return nil }
    return ProcessTable.program(of: parent)?.name == program ? parent : nil
  }

  /// The memory that a process hands over to the next.
  package var shared: Descriptor { Descriptor(owning: fcntl(memory, F_DUPFD_CLOEXEC, 3)) }

  package enum Message: UInt8, Sendable {
    case mounted = 0x44
    case answering = 0x52
    case ending = 0x45
    case failing = 0x46
    case held = 0x48
  }

  /// Starts a process that shares this one's descriptors. When this one dies, it passes the descriptors in `ledger` to
  /// the supervisor. Must be called before a second thread exists. Returns whether the process was started.
  package func hold(_ ledger: OpenLedger) -> Bool {
    guard canHold, ledger.startHolder(socket) else { return false }
    tell(.held)
    ledger.claim()
    return true
  }

  /// Sends a message to the supervisor, with a descriptor that it keeps.
  package func tell(_ message: Message, _ descriptor: Int32? = nil) {
    var byte = message.rawValue
    let descriptors = descriptor.map { [$0] } ?? []
    _ = unsafe ffmount_send(socket, &byte, 1, descriptors, descriptors.count)
  }
}
