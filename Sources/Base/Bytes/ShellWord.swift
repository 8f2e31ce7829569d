/// Shell words, for commands that messages suggest.
public enum ShellWord {
  /// Returns text as one shell word that can be typed or pasted.
  ///
  /// The word is unquoted if possible, otherwise in single quotes. If terminals do not show some characters as they
  /// are, it is in the form `$'…'` (POSIX.1-2024).
  public static func quoted(_ text: String) -> String {
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    if text.unicodeScalars.contains(where: isUnshown) {
      return "$'" + text.unicodeScalars.map(escaped).joined() + "'"
    }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  /// Returns whether a byte has no special meaning to any shell, at any position of a word.
  private static func isPlain(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "/._-+,:@%=".utf8.contains(byte)
  }

  /// Returns whether a character is a control character or changes the text direction.
  private static func isUnshown(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
  }

  /// Returns a character for use between `$'` and `'`. If it cannot represent itself there, its bytes are in octal.
  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    guard scalar == "'" || scalar == "\\" || isUnshown(scalar) else { return String(scalar) }
    return scalar.utf8.map { byte in
      let digits = String(byte, radix: 8)
      return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }.joined()
  }
}
