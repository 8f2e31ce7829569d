internal import Bytes

/// Dialogs of the desktop, by zenity or kdialog.
package enum Dialog {
  enum Program: String, CaseIterable { case zenity, kdialog }

  package static var hasDisplay: Bool {
    Terminal.variable("DISPLAY") != nil || Terminal.variable("WAYLAND_DISPLAY") != nil
  }

  /// The program that fits the desktop, with its path. `nil` if there is none.
  static var program: (Program, String)? {
    guard hasDisplay else { return nil }
    let isPlasma = Terminal.variable("XDG_CURRENT_DESKTOP")?.contains("KDE") ?? false
    let preferred: [Program] = isPlasma ? [.kdialog, .zenity] : [.zenity, .kdialog]
    return preferred.firstNonNil { program in Subprocess.path(of: program.rawValue).map { (program, $0) } }
  }

  /// Returns text for a GTK label, in which a backslash starts an escape and an underscore a mnemonic.
  static func plain(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("_", with: "__")
  }

  /// Returns text for a Qt label, which takes text with tags for HTML.
  static func literal(_ text: String) -> String { text.replacing("<", with: "\u{2039}") }
}
