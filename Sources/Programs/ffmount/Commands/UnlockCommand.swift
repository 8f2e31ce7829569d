import ArgumentParser
import Assembly
import Bytes
import Glibc

/// `ffmount unlock PATH`: gives a password to a running mount.
struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Gives a password for encrypted files to a mount.",
    usage: "ffmount unlock PATH [--stdin]",
    discussion: """
      Asks on the terminal, or by a dialog of the desktop. If PATH is an encrypted file or its view, a wrong password is \
      asked for again. The mount tries the password on all encrypted files, until it is unmounted. It is not stored on \
      disk, and other users do not see it.
      """)

  @Argument(help: "A file or folder in a mount, or the mountpoint.", completion: .file())
  var path: String

  @Flag(help: "Read the password from the first line of standard input.")
  var stdin = false

  func run() throws {
    let (mount, path) = try RunningMount.containing(self.path, toDo: "unlock")
    if let objection = mount.objection(toDo: "unlock", by: "unlock \(ShellWord.quoted(path))") {
      throw Refusal(.failure, "cannot unlock \(self.path): \(objection)")
    }
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      throw Refusal(.sourceMissing, "cannot unlock \(self.path): \(describe(errno)) (check the path)")
    }
    let mountpoint = Terminal.shown(mount.entry.mountpoint)
    let locked = LockedFiles(at: path, in: mount.entry.mountpoint, named: self.path)
    switch stdin ? try locked.give(Self.line()) : try locked.ask() {
    case .unlocked: print("\(Terminal.shown(self.path)) can be read until \(mountpoint) is unmounted.")
    case .given: print("The password is tried on encrypted files until \(mountpoint) is unmounted.")
    case .none: throw Refusal(.failure, "cannot unlock \(self.path): no password given")
    }
  }

  /// Reads the first line of standard input.
  private static func line() -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !bytes.contains(0x0a), bytes.count <= GivenPasswords.longest + 1 {
      let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    let line = bytes.prefix { $0 != 0x0a }
    return Array(line.last == 0x0d ? line.dropLast() : line)
  }
}
