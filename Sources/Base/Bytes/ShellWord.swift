/// Words of a shell's command line, for commands that messages suggest.
public enum ShellWord {
  /// Text as one word, to be typed or pasted: as it is, in single quotes, or, with characters that a terminal does not
  /// show as they are, as `$'…'` (POSIX.1-2024).
  public static func quoted(_ text: String) -> String {
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    if text.unicodeScalars.contains(where: isUnshown) {
      return "$'" + text.unicodeScalars.map(escaped).joined() + "'"
    }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  /// Whether no shell gives a meaning to a byte, wherever in a word it is.
  private static func isPlain(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-+,:@%=".utf8.contains(byte)
  }

  /// Control characters, and those that change the direction of what follows.
  private static func isUnshown(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
  }

  /// A character between `$'` and `'`: its bytes in octal where it is not itself there.
  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    guard scalar == "'" || scalar == "\\" || isUnshown(scalar) else { return String(scalar) }
    return scalar.utf8.map { byte in
      let digits = String(byte, radix: 8)
      return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }.joined()
  }
}
