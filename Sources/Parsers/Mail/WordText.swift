/// Prepares text for an index that finds words by the spaces and punctuation between them.
///
/// Chinese, Japanese and Korean are written without: there, each two adjacent characters are a word, as is the last one
/// of a run. Any part of a run is then found as a phrase of such words, and one character as a prefix.
public enum WordText {
  /// Unchanged UTF-8, except for runs of such characters and letters with several encodings. O(n).
  public static func indexed(_ spelled: [UInt8]) -> [UInt8] {
    let text = composed(spelled)
    guard text.contains(where: { $0 >= 0xe1 }) else { return text }
    var result: [UInt8] = []
    result.reserveCapacity(text.count + text.count / 2)
    var index = 0
    /// The last character of the run before `index`.
    var last: Range<Int>?
    func end() {
      guard let open = last else { return }
      result.append(0x20)
      result += text[open]
      result.append(0x20)
      last = nil
    }
    while index < text.count {
      let lead = text[index]
      if lead < 0xe1 {
        if last != nil { end() }
        result.append(lead)
        index += 1
        continue
      }
      let size = min(lead >= 0xf0 ? 4 : 3, text.count - index)
      let place = index..<index + size
      index += size
      guard isWithoutSpaces(text, place) else {
        end()
        result += text[place]
        continue
      }
      if let before = last {
        result.append(0x20)
        result += text[before]
      } else {
        result.append(0x20)
        last = place
        continue
      }
      result += text[place]
      last = place
    }
    end()
    return result
  }

  /// The words of a search term, as consecutive words of the index, and whether the last is a prefix; no words if there
  /// are none. The term may occur within a longer run.
  public static func sought(_ term: String) -> (words: [String], isStart: Bool) {
    var words: [String] = []
    var word = ""
    var run: [Unicode.Scalar] = []
    func endWord() {
      if !word.isEmpty { words.append(word) }
      word = ""
    }
    func endRun(isLast: Bool) {
      for (one, other) in zip(run, run.dropFirst()) { words.append("\(one)\(other)") }
      if let last = run.last, !isLast || run.count == 1 { words.append(String(last)) }
    }
    for scalar in composed(term).unicodeScalars {
      if isWithoutSpaces(scalar.value) {
        endWord()
        run.append(scalar)
        continue
      }
      if !run.isEmpty { endRun(isLast: false) }
      run = []
      if isWordPart(scalar) { word.unicodeScalars.append(scalar) } else { endWord() }
    }
    endWord()
    let isSingle = run.count == 1
    if !run.isEmpty { endRun(isLast: true) }
    return (words, isSingle)
  }

  /// Letters, digits, marks and private use characters (FTS5's tokenizer `unicode61`).
  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .privateUse, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }

  private static func isWithoutSpaces(_ text: [UInt8], _ place: Range<Int>) -> Bool {
    var value = UInt32(text[place.lowerBound]) & (place.count == 4 ? 0x07 : 0x0f)
    for byte in text[place].dropFirst() { value = value << 6 | UInt32(byte & 0x3f) }
    return isWithoutSpaces(value)
  }

  private static func isWithoutSpaces(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x11ff, 0x3005...0x3007, 0x3040...0x30ff, 0x3105...0x318f, 0x31f0...0x31ff, 0x3400...0x4dbf,
      0x4e00...0x9fff, 0xac00...0xd7af, 0xf900...0xfaff, 0xff66...0xff9f, 0x20000...0x3ffff:
      true
    default: false
    }
  }
}
