import Assembly
import Bytes
import Glibc

/// Common wrong command lines, and the correct ones.
enum Misuse {
  /// The names of commands in other programs, and their equivalents here.
  private static let others = ["umount": "unmount", "ls": "list", "mounts": "list", "check": "doctor"]

  /// Refuses a word that would be taken for an option or a SOURCE but is meant as a command.
  static func check(_ arguments: [String]) throws {
    guard let first = arguments.first else { return }
    if first.hasPrefix("--") {
      let word = String(first.dropFirst(2))
      guard let name = others[word] ?? (isCommand(word) ? word : nil), name != "help" else { return }
      throw Refusal(.usage, "unknown option \(first) (type: \(example(name, arguments)))")
    }
    if let name = others[first], !exists(first) {
      throw Refusal(.usage, "\(first) is not a command, folder or file (type: \(example(name, arguments)))")
    }
  }

  /// Returns the error message for a wrong command line.
  static func sentence(_ message: String, _ arguments: [String]) -> String {
    let message = message.split(separator: "\n").joined(separator: " ")
    // The message already contains advice.
    if message.hasSuffix(")") { return message }
    guard let first = arguments.first, isCommand(first) else { return "\(message) (type ffmount --help for the usage)" }
    let hint = exists(first) ? "; to mount \(first), write ./\(first)" : ""
    return "\(message) (type ffmount help \(first) for the usage\(hint))"
  }

  private static func isCommand(_ word: String) -> Bool { FFMount.commandNames.contains(word) }

  private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private static func example(_ command: String, _ arguments: [String]) -> String {
    let operands = ["unmount": "MOUNTPOINT", "why": "PATH", "open": "FILE", "mount": "SOURCE MOUNTPOINT"]
    guard let operand = operands[command] else { return "ffmount \(command)" }
    return "ffmount \(command) "
      + (arguments.count > 1 ? arguments.dropFirst().map(ShellWord.quoted).joined(separator: " ") : operand)
  }
}
