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
    if first == "help", let word = arguments.dropFirst().first, !word.hasPrefix("-"), !isCommand(word) {
      let name = others[word] ?? Spelling.nearest(to: word, among: FFMount.commandNames)
      throw Refusal(.usage, "\(word) is not a command (type: ffmount help\(name.map { " \($0)" } ?? ""))")
    }
    // Nearly all words are near a name of two or three letters.
    let isWord = !first.hasPrefix("-") && !first.contains("/") && !isCommand(first) && first.count > 2
    let near = isWord ? Spelling.nearest(to: first, among: FFMount.commandNames) : nil
    if let name = others[first] ?? near, !exists(first) {
      throw Refusal(.usage, "\(first) is not a command, folder or file (type: \(example(name, arguments)))")
    }
  }

  /// Returns whether a command is asked to print JSON.
  static func wantsJSON(_ arguments: [String]) -> Bool {
    arguments.first.map(isCommand) ?? false && arguments.prefix { $0 != "--" }.contains("--json")
  }

  /// Returns the error message for a wrong command line.
  static func sentence(_ message: String, _ arguments: [String]) -> String {
    var message = message.split(separator: "\n").joined(separator: " ")
    // argument-parser reports a missing argument first.
    if message.hasPrefix("Missing expected argument"), let option = unknownOption(in: arguments) {
      message = "Unknown option '\(option)'"
      if option == "-u" { return "\(message) (put it first: ffmount -u MOUNTPOINT)" }
      if option == "-v" { return "\(message) (did you mean -V?)" }
    }
    // The message already contains advice.
    if message.hasSuffix(")") { return message }
    if message.hasPrefix("-o ") { return "\(message) (see MOUNT OPTIONS in: man ffmount)" }
    guard let first = arguments.first, isCommand(first) else { return "\(message) (type ffmount --help for the usage)" }
    let hint = exists(first) ? "; to mount \(first), write ./\(first)" : ""
    return "\(message) (type ffmount help \(first) for the usage\(hint))"
  }

  /// Returns the first word with a dash that is not an option of the command. Returns `nil` if there is none.
  private static func unknownOption(in arguments: [String]) -> String? {
    guard let program = CommandShape.program() else { return nil }
    var place = CommandPlace(program)
    for word in FFMount.withCommand(arguments) {
      let name = String(word.prefix { $0 != "=" })
      let isOption = word.hasPrefix("-") && word.count > 1 && word != "--" && !word.hasPrefix("-o")
      if isOption, !place.isPastOptions, place.pending == nil, !["-h", "--help", "--version"].contains(name),
        place.effective.option(name) == nil
      {
        return name
      }
      place.pass(word)
    }
    return nil
  }

  private static func isCommand(_ word: String) -> Bool { FFMount.commandNames.contains(word) }

  private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private static func example(_ command: String, _ arguments: [String]) -> String {
    let operands = [
      "unmount": "MOUNTPOINT", "upgrade": "MOUNTPOINT", "why": "PATH", "unlock": "PATH", "open": "FILE",
      "mount": "SOURCE MOUNTPOINT", "index": "PATH", "search": "FOLDER QUERY", "verify": "PATH", "serve": "SOURCE",
      "cache": "clear", "thumbnail": "INPUT OUTPUT", "help": "COMMAND",
    ]
    guard let operand = operands[command] else { return "ffmount \(command)" }
    return "ffmount \(command) "
      + (arguments.count > 1 ? arguments.dropFirst().map(ShellWord.quoted).joined(separator: " ") : operand)
  }
}
