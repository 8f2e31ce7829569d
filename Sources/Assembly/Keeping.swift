internal import CPosix
internal import FileTrees
package import Files
internal import Glibc

/// What a serving process has from `ffkeep`, the program that starts another when it dies.
package struct Keeping: Sendable {
  /// Which process of this mount it is, from 0.
  package let ordinal: UInt16
  /// The keeper's.
  private let socket: Int32
  private let memory: Int32
  /// The kernel's connection; nil in the first process.
  package let connection: Int32?
  /// Where the first process tells how its start went; nil if there is nobody.
  package let report: Int32?
  /// Whether the keeper can answer requests with EIO: one of an earlier version cannot.
  package let canRefuse: Bool
  /// Whether the keeper takes over what a process has open when that dies: one of an earlier version does not.
  package let canHold: Bool
  /// Whether the process before was replaced because it had too much memory.
  package let followsLarge: Bool

  private static let variable = "FFMOUNT_KEPT"

  /// This process's; nil if no keeper has started it. Takes it out of the environment, which other programs inherit.
  package static func taken() -> Keeping? {
    guard let value = unsafe getenv(variable) else { return nil }
    let numbers = unsafe String(cString: value).split(separator: " ").compactMap { Int32($0) }
    _ = unsafe unsetenv(variable)
    // An older keeper, which an upgrade leaves, does not tell the last one.
    guard numbers.count >= 5, let ordinal = UInt16(exactly: numbers[0]), numbers[1] > 2, numbers[2] > 2 else {
      return nil
    }
    // Started by a descriptor, it would be called by the number of that.
    if let name = unsafe fopen("/proc/self/comm", "we") {
      _ = unsafe fputs("ffmount", name)
      _ = unsafe fclose(name)
    }
    for number in numbers[1..<5] where number > 2 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return Keeping(
      ordinal: ordinal, socket: numbers[1], memory: numbers[2], connection: numbers[3] < 0 ? nil : numbers[3],
      report: numbers[4] < 0 ? nil : numbers[4],
      canRefuse: numbers.count > 6, canHold: numbers.count > 7, followsLarge: numbers.count > 5 && numbers[5] != 0)
  }

  private static let program = "ffkeep"

  /// Whether the keeper is installed.
  package static var isPossible: Bool { OwnPrograms.path(of: program) != nil }

  /// Becomes a keeper, which starts this program with `arguments`. Returns only if that fails.
  ///
  /// - Parameters:
  ///   - report: where the first process tells how its start went.
  ///   - memory: in bytes, beyond which a process is replaced.
  ///   - unmounts: whether a mount that no process can serve is unmounted.
  package static func become(report: Int32?, memory: Int64, unmounts: Bool, _ arguments: [String]) throws {
    guard let keeper = OwnPrograms.path(of: program), let own = OwnPrograms.target(ofLink: "/proc/self/exe") else {
      throw Refusal(.failure, "cannot keep the mount: ffkeep is missing (install it, or use -o supervise=off)")
    }
    if let report { _ = fcntl(report, F_SETFD, 0) }
    let words =
      [keeper, "\(report ?? -1)", "\(memory >> 10)", unmounts ? "unmount" : "refuse", own, CommandLine.arguments[0]]
      + arguments
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    _ = unsafe execv(keeper, &pointers)
    throw Refusal(.failure, "cannot keep the mount: \(keeper): \(describe(errno)) (use -o supervise=off)")
  }

  /// The keeper of a serving process; nil if it has none.
  package static func keeper(of process: Int32) -> Int32? {
    guard let parent = ProcessTable.program(of: process)?.parent else { return nil }
    return ProcessTable.program(of: parent)?.name == program ? parent : nil
  }

  /// What a process leaves to the next.
  package var shared: Descriptor { Descriptor(owning: fcntl(memory, F_DUPFD_CLOEXEC, 3)) }

  package enum Message: UInt8, Sendable {
    case mounted = 0x44
    case answering = 0x52
    case ending = 0x45
    case failing = 0x46
    case held = 0x48
  }

  /// Has another process share this one's descriptors, of which it gives those that `ledger` has to the keeper when this one
  /// dies. Before any second thread exists. Returns whether that is so.
  package func hold(_ ledger: OpenLedger) -> Bool {
    guard canHold, ledger.startHolder(socket) else { return false }
    tell(.held)
    ledger.claim()
    return true
  }

  /// Tells the keeper, with a descriptor for it to hold.
  package func tell(_ message: Message, _ descriptor: Int32? = nil) {
    var byte = message.rawValue
    let descriptors = descriptor.map { [$0] } ?? []
    _ = unsafe ffmount_send(socket, &byte, 1, descriptors, descriptors.count)
  }
}
