import Assembly
import Glibc

/// Windows of a command that a desktop started, by zenity or kdialog.
enum Dialog {
  /// Whether messages need a window: there is a screen, and no terminal.
  static var isNeeded: Bool { hasScreen && !hasTerminal }

  static var hasScreen: Bool {
    Terminal.variable("DISPLAY") != nil || Terminal.variable("WAYLAND_DISPLAY") != nil
  }

  /// Whether the process has a controlling terminal. Standard error can be a file in a terminal session, too.
  private static var hasTerminal: Bool {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if terminal >= 0 { close(terminal) }
    return terminal >= 0
  }

  /// Runs a command. Its refusal is also shown in a window if one is needed.
  static func reporting(_ body: () throws -> Void) throws {
    do { try body() } catch let refusal as Refusal {
      show(refusal.sentence)
      throw refusal
    }
  }

  /// Shows an error in a window if one is needed. Blocks until the user closes it.
  static func show(_ sentence: String) {
    guard isNeeded, let (path, program) = installed else { return }
    let text = Terminal.shown(sentence)
    switch program {
    case .zenity:
      _ = Subprocess.run(path, ["--error", "--title=ffmount", "--no-markup", "--width=480", "--text=\(text)"])
    case .kdialog: _ = Subprocess.run(path, ["--title", "ffmount", "--error", escaped(text)])
    }
  }

  /// Asks for a line of text. Blocks until the user has answered. Returns `nil` if the user cancels.
  ///
  /// - Throws: A refusal if no program can ask.
  static func ask(_ question: String) throws -> String? {
    let text = Terminal.shown(question)
    return try answer(
      zenity: ["--entry", "--text=\(text)"], kdialog: ["--inputbox", escaped(text)])
  }

  /// Asks for a directory. Blocks until the user has answered. Returns `nil` if the user cancels.
  ///
  /// - Throws: A refusal if no program can ask.
  static func chooseFolder() throws -> String? {
    let home = Terminal.variable("HOME") ?? "/"
    return try answer(
      zenity: ["--file-selection", "--directory", "--filename=\(home)/"], kdialog: ["--getexistingdirectory", home])
  }

  private static func answer(zenity: [String], kdialog: [String]) throws -> String? {
    guard hasScreen, let (path, program) = installed else {
      throw Refusal(.failure, "cannot ask: neither zenity nor kdialog is installed (install one of them)")
    }
    let arguments = program == .zenity ? ["--title=ffmount"] + zenity : ["--title", "ffmount"] + kdialog
    guard let answer = Subprocess.run(path, arguments, keepsErrors: false), answer.status == 0 else { return nil }
    return answer.text.split(separator: "\n").first.map(String.init) ?? ""
  }

  private enum Program: String, CaseIterable {
    case zenity, kdialog
  }

  /// The dialog program of the desktop, or the other one if that is not installed.
  private static var installed: (path: String, program: Program)? {
    let isKDE = Terminal.variable("XDG_CURRENT_DESKTOP")?.contains("KDE") ?? false
    let programs: [Program] = isKDE ? [.kdialog, .zenity] : [.zenity, .kdialog]
    return programs.lazy.compactMap { program in
      Subprocess.path(of: program.rawValue).map { ($0, program) }
    }.first
  }

  /// Returns text that kdialog shows literally. It takes text with tags for HTML, and a backslash for an escape.
  private static func escaped(_ text: String) -> String {
    let text = text.replacing("\\", with: "\\\\")
    guard text.contains("<") || text.contains("&") else { return text }
    return "<qt>" + text.replacing("&", with: "&amp;").replacing("<", with: "&lt;") + "</qt>"
  }
}
