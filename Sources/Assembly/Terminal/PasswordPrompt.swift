internal import Glibc

/// Asks the user for a password: on the terminal without showing it, otherwise by a dialog.
package enum PasswordPrompt {
  /// Whether the user can be asked.
  package static var isPossible: Bool { Terminal.withControlling(reads) ?? false || Dialog.program != nil }

  /// Asks for a password. Returns `nil` if the user gives none. Blocks until the user answers.
  ///
  /// - Parameter question: The text without a colon, which may contain untrusted names.
  package static func ask(_ question: String) throws -> [UInt8]? {
    let question = Terminal.shown(question)
    var isAsked = false
    let answer = Terminal.withControlling { terminal -> [UInt8] in
      isAsked = reads(terminal)
      return isAsked ? ask(question, on: terminal) ?? [] : []
    }
    if isAsked { return answer.flatMap { $0.isEmpty ? nil : $0 } }
    if Dialog.program != nil { return try Dialog.password(question) }
    throw Refusal(
      .failure,
      "cannot ask for a password: no terminal, and no desktop with zenity or kdialog (use --stdin, or mount with "
        + "-o password_file=FILE)")
  }

  /// Returns whether this process may read from a terminal: it is in the job in the foreground. A job in the background
  /// would be stopped.
  private static func reads(_ terminal: Int32) -> Bool { tcgetpgrp(terminal) == getpgrp() }

  /// Asks on a terminal, and restores its mode. Returns `nil` at the end of input.
  private static func ask(_ question: String, on terminal: Int32) -> [UInt8]? {
    var usual = termios()
    guard unsafe tcgetattr(terminal, &usual) == 0 else { return nil }
    // A signal that ends or stops the process takes effect after the terminal's mode has been restored.
    var (signals, before) = (sigset_t(), sigset_t())
    _ = unsafe sigemptyset(&signals)
    for signal in endings + [SIGTSTP] { _ = unsafe sigaddset(&signals, signal) }
    _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
    defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var silent = usual
    silent.c_lflag &= ~tcflag_t(ECHO)
    silent.c_lflag |= tcflag_t(ICANON | ECHONL)
    _ = unsafe tcsetattr(terminal, TCSAFLUSH, &silent)
    defer { _ = unsafe tcsetattr(terminal, TCSAFLUSH, &usual) }
    try? Output.write(Array("\(question): ".utf8), to: terminal)
    return line(from: terminal)
  }

  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// The interval at which signals are looked for, in milliseconds.
  private static let interval: Int32 = 50
  /// The maximum length of a line on a terminal, in bytes.
  private static let longest = 4096

  /// Reads a line. Returns `nil` at the end of input, or when a signal has arrived that will end the process.
  private static func line(from terminal: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: longest)
    while !bytes.contains(0x0a) {
      var pending = sigset_t()
      _ = unsafe sigpending(&pending)
      if endings.contains(where: { unsafe sigismember(&pending, $0) == 1 }) { return nil }
      var wait = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&wait, 1, interval) > 0 else { continue }
      let count = unsafe read(terminal, &buffer, buffer.count)
      guard count > 0, bytes.count < longest else { return nil }
      bytes += buffer[..<count]
    }
    return Array(bytes.prefix { $0 != 0x0a })
  }
}
