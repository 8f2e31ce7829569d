internal import Glibc

/// Messages and questions of a command that a desktop started.
extension Dialog {
  /// Whether messages need a window: there is a display, and no terminal.
  package static var isNeeded: Bool { hasDisplay && !Terminal.controls }

  /// Runs a command. Its refusal is also shown in a window if one is needed.
  package static func reporting(_ body: () throws -> Void) throws {
    do { try body() } catch let refusal as Refusal {
      if isNeeded { show(refusal.sentence) }
      throw refusal
    }
  }

  /// Reports a problem that does not end the command, also in a window if one is needed. Blocks until the user closes the
  /// window.
  package static func warn(_ sentence: String) {
    Terminal.logError(sentence)
    if isNeeded { show(sentence) }
  }

  /// Shows an error if the desktop has a program for it. Blocks until the user closes the window.
  private static func show(_ sentence: String) {
    guard let (program, path) = program else { return }
    let text = Terminal.shown(sentence)
    let words =
      switch program {
      // The text is not a mnemonic here.
      case .zenity:
        ["--error", "--title=ffmount", "--no-markup", "--width=480", "--text=\(text.replacing("\\", with: "\\\\"))"]
      case .kdialog: ["--title", "ffmount", "--error", literal(text)]
      }
    _ = Subprocess.run(path, words)
  }

  /// Asks for a line of text. Blocks until the user has answered. Returns `nil` if the user cancels.
  ///
  /// - Parameter question: The text without a colon, which may contain untrusted names.
  /// - Throws: A refusal if no program can ask.
  package static func ask(_ question: String) throws -> String? {
    let question = Terminal.shown(question)
    return try answer(
      zenity: ["--entry", "--text=\(plain(question)):"], kdialog: ["--inputbox", "\(literal(question)):"])
  }

  /// Asks for a password. Blocks until the user has answered. Returns `nil` if the user cancels, or leaves it empty.
  ///
  /// - Parameter question: The text without a colon. It is visible to other users, like all arguments of programs.
  /// - Throws: A refusal if no program can ask.
  static func password(_ question: String) throws -> [UInt8]? {
    let question = Terminal.shown(question)
    let line = try answer(
      zenity: ["--entry", "--hide-text", "--text=\(plain(question)):"],
      kdialog: ["--password", "\(literal(question)):"])
    return line.flatMap { $0.isEmpty ? nil : Array($0.utf8) }
  }

  /// Asks for a directory. Blocks until the user has answered. Returns `nil` if the user cancels.
  ///
  /// - Throws: A refusal if no program can ask.
  package static func chooseFolder() throws -> String? {
    let home = Terminal.variable("HOME") ?? "/"
    return try answer(
      zenity: ["--file-selection", "--directory", "--filename=\(home)/"], kdialog: ["--getexistingdirectory", home])
  }

  private static func answer(zenity: [String], kdialog: [String]) throws -> String? {
    guard let (program, path) = program else {
      throw Refusal(.failure, "cannot ask: no display, or neither zenity nor kdialog (install one of them)")
    }
    let words = program == .zenity ? ["--title=ffmount"] + zenity : ["--title", "ffmount"] + kdialog
    guard let ended = Subprocess.run(path, words, withErrors: false), ended.status == 0 else { return nil }
    return ended.text.split(separator: "\n").first.map(String.init) ?? ""
  }
}
