internal import Glibc
internal import Text

/// User-visible output. On a terminal it is coloured and fitted to the width, otherwise it is plain.
package enum Terminal {
  /// Prints a line that starts with `ffmount: ` to standard error.
  package static func logError(_ sentence: String) {
    try? Output.write(Array("ffmount: \(shown(sentence))\n".utf8), to: STDERR_FILENO)
  }

  package static func isOne(_ descriptor: Int32 = STDOUT_FILENO) -> Bool { isatty(descriptor) == 1 }

  /// Whether a terminal controls this process, wherever its streams go. It was then started by a user at that terminal,
  /// and not by a desktop or a timer.
  package static var controls: Bool { withControlling { _ in true } ?? false }

  /// Calls `body` with a descriptor of the terminal that controls this process. Returns `nil` if none does.
  static func withControlling<Result>(_ body: (Int32) -> Result) -> Result? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    return body(terminal)
  }

  /// Returns the width of a terminal in columns. Returns 80 if it is unknown.
  package static func columns(of descriptor: Int32 = STDOUT_FILENO) -> Int {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Returns text without control characters and characters that reorder the text around them, because names are
  /// untrusted.
  package static func shown(_ text: String) -> String {
    let line = String(decoding: ShownText.line(Array(text.utf8)), as: UTF8.self)
    guard line.unicodeScalars.contains(where: isReordering) else { return line }
    return String(String.UnicodeScalarView(line.unicodeScalars.map { isReordering($0) ? "\u{fffd}" : $0 }))
  }

  private static func isReordering(_ scalar: Unicode.Scalar) -> Bool {
    (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }

  /// Returns the width of `shown` text in columns.
  package static func width(_ text: String) -> Int { DisplayWidth.of(Array(text.utf8)) }

  /// Returns the end of `shown` text, after an ellipsis, if it is wider than `columns`. The end of a path is more
  /// informative than its start.
  package static func end(of text: String, columns: Int) -> String {
    guard width(text) > columns else { return text }
    var end = ""
    var room = max(0, columns - 1)
    for character in text.reversed() {
      room -= width(String(character))
      if room < 0 { break }
      end.insert(character, at: end.startIndex)
    }
    return columns > 0 ? "…" + end : ""
  }

  /// Returns the start of `shown` text, with a width of at most `columns`.
  package static func start(of text: String, columns: Int) -> String {
    var room = columns
    return String(
      text.prefix { character in
        // The text contains neither "\r" nor escape sequences.
        room -= width(String(character))
        return room >= 0
      })
  }

  /// Wraps text between words. No line is wider than `columns`, unless a word is. Lines except the first begin with
  /// `indent` blanks.
  package static func wrapped(_ text: String, columns: Int, indent: Int = 0) -> String {
    var lines = [""]
    var used = 0
    for word in text.split(separator: " ") {
      let size = width(String(word))
      if used > indent, used + 1 + size > columns {
        lines.append(String(repeating: " ", count: indent) + word)
        used = indent + size
      } else {
        lines[lines.count - 1] += (used > (lines.count == 1 ? 0 : indent) ? " " : "") + word
        used += (used > 0 ? 1 : 0) + size
      }
    }
    return lines.joined(separator: "\n")
  }

  // MARK: Colours

  package enum Colour: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case bold = 1
  }

  /// Returns coloured text if the terminal supports colours and NO_COLOR is unset or empty (https://no-color.org).
  package static func painted(_ text: String, _ colour: Colour) -> String {
    hasColours ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
  }

  private static let hasColours = isOne() && variable("NO_COLOR") == nil && ![nil, "dumb"].contains(variable("TERM"))

  /// Returns an environment variable. Returns `nil` if it is unset or empty.
  package static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
