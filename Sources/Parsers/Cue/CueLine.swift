/// A line of a sheet: a command and its arguments.
struct CueLine {
  /// The command, in capitals.
  let command: String
  private let rest: Substring

  init(_ line: Substring) {
    let line = Self.trimmed(line)
    let word = line.prefix { !Self.isSpace($0) }
    command = word.uppercased()
    rest = Self.trimmed(line.dropFirst(word.count))
  }

  private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  /// The arguments without their enclosing quotes. Inner quotes are literal, because the format has no escapes.
  var text: String {
    guard rest.first == "\"" else { return String(rest) }
    let inner = rest.dropFirst()
    return String(inner.last == "\"" ? inner.dropLast() : inner)
  }

  /// The arguments, split into words.
  var words: [Substring] { rest.split(whereSeparator: Self.isSpace) }

  /// The name before a final word, as in `FILE`.
  var nameBeforeWord: String {
    if rest.first == "\"", let end = rest.lastIndex(of: "\""), end > rest.startIndex {
      return String(rest[rest.index(after: rest.startIndex)..<end])
    }
    let words = words
    guard words.count > 1, let last = words.last else { return text }
    return String(Self.trimmed(rest.dropLast(last.count)))
  }

  /// The content of a `REM` command: a word and its arguments.
  var remark: CueLine { CueLine(rest) }

  /// Parses `mm:ss:ff` into frames. Returns `nil` for other text.
  static func time(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let minutes = number(parts[0], below: 100_000), let seconds = number(parts[1], below: 60),
      let frames = number(parts[2], below: Int(CueSheet.rate))
    else { return nil }
    return Int64(minutes * 60 + seconds) * CueSheet.rate + Int64(frames)
  }

  static func number(_ text: Substring, below limit: Int) -> Int? {
    guard (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text), number < limit
    else { return nil }
    return number
  }
}
