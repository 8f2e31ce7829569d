internal import CPosix
internal import Files
internal import Glibc

/// Runs other programs.
package enum Subprocess {
  package struct Ended {
    /// The exit status, or 128 plus the number of the signal that ended the program.
    package let status: Int32
    /// The standard output of the program, and its standard error if that was requested.
    package let text: String
  }

  private static let largestText = 1 << 20

  /// Runs a program, given by its path, without input. Blocks until it has ended. Returns `nil` if it cannot be
  /// started.
  package static func run(_ path: String, _ arguments: [String], withErrors: Bool = true) -> Ended? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    let child = start(path, arguments, output: ends[1], errors: withErrors ? ends[1] : nil)
    close(ends[1])
    defer { close(ends[0]) }
    guard let child else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(ends[0], &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      if bytes.count < largestText { bytes += buffer[..<count] }
    }
    return status(of: child).map { Ended(status: $0, text: String(decoding: bytes, as: UTF8.self)) }
  }

  /// Runs a program, given by its path, with the input and output of this one. Blocks until it has ended. Returns its
  /// exit status, or 128 plus the number of the signal that ended it. Returns `nil` if it cannot be started.
  package static func runVisibly(_ path: String, _ arguments: [String]) -> Int32? {
    let child = try? spawn(path, [path] + arguments, inheritsVariables: true, descriptors: [:], flags: 0)
    return child.flatMap { status(of: $0) }
  }

  /// Waits for a process to end. Returns `nil` on failure.
  private static func status(of child: Int32) -> Int32? {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 { if errno != EINTR { return nil } }
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  /// Starts an independent program in its own session, without input and output. Returns its process ID. Returns `nil`
  /// if it cannot be started.
  package static func detach(_ path: String, _ arguments: [String]) -> Int32? {
    start(path, arguments, output: nil, errors: nil)
  }

  /// Returns the path of a program in PATH.
  package static func path(of program: String) -> String? {
    (Terminal.variable("PATH") ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(program)" }
      .first { unsafe access($0, X_OK) == 0 }
  }

  private static func start(_ path: String, _ arguments: [String], output: Int32?, errors: Int32?) -> Int32? {
    // POSIX_SPAWN_SETSID is hidden behind _GNU_SOURCE.
    let newSession: Int32 = output == nil ? 0x80 : 0
    return try? spawn(
      path, [path] + arguments, inheritsVariables: true,
      descriptors: [STDIN_FILENO: nil, STDOUT_FILENO: output, STDERR_FILENO: errors], flags: newSession)
  }
}
