import Assembly
import Tree

/// The views and their modifiers as a list that fits a terminal.
enum FormatsList {
  static func show(_ views: [ViewDescription]) {
    let columns = Terminal.columns()
    func plain(_ text: String) -> String { text.replacing("`", with: "") }
    func line(_ text: String) {
      print("    " + Terminal.wrapped(plain(text), columns: columns - 4).indented(by: 4))
    }
    var modifiers: [(example: String, meaning: String)] = []
    for view in views {
      print(Terminal.painted(view.spelling, .bold))
      line(view.result)
      line("of \(view.sources)")
      if !view.listed.isEmpty { line("listed beside \(view.listed.map { "*.\($0)" }.joined(separator: " "))") }
      if !view.modifiers.isEmpty { line("with \(view.modifiers.map(\.example).joined(separator: " "))") }
      for modifier in view.modifiers where !modifiers.contains(where: { $0 == (modifier.example, modifier.meaning) }) {
        modifiers.append((modifier.example, modifier.meaning))
      }
    }
    print()
    print(
      Terminal.wrapped(
        "Modifiers stand before the last part of a name: photo.png.1600px.q70.as-jpeg", columns: columns))
    let indentation = String(repeating: " ", count: 16)
    for modifier in modifiers {
      let count = modifier.example.count
      let label = modifier.example + (count < 12 ? String(repeating: " ", count: 12 - count) : "\n" + indentation)
      print("    \(label)\(Terminal.wrapped(plain(modifier.meaning), columns: columns - 16).indented(by: 16))")
    }
  }
}

extension String {
  /// Returns the text with spaces before each line except the first.
  func indented(by count: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).joined(
      separator: "\n" + String(repeating: " ", count: count))
  }
}
