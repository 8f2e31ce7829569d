internal import Text

/// Prepares text for an index that finds words by the spaces and punctuation between them.
///
/// Text is folded, so that words are found regardless of case, accents and width. Chinese, Japanese, Korean, Thai, Lao,
/// Khmer and Burmese are written without spaces. There, each two adjacent characters are a word, as is the last
/// character of a run. Any part of a run is then found as a phrase of such words, and one character as a prefix.
public enum WordText {
  /// Returns folded UTF-8, with runs without spaces as words of two characters. O(n).
  public static func indexed(_ spelled: [UInt8]) -> [UInt8] {
    let text = FoldedText.folded(separated(spelled))
    guard text.contains(where: { $0 >= firstLead }) else { return text }
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
      if lead < firstLead {
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

  /// Returns the words of a search term, as consecutive words of the index, and whether the last is a prefix. Returns
  /// no words if there are none. The term may occur within a longer run.
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
    let folded = FoldedText.folded(separated(Array(term.utf8)))
    for scalar in String(decoding: folded, as: UTF8.self).unicodeScalars {
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

  /// Returns the text with a space in place of each start and end of text in another direction, which folding would
  /// remove together with the marks within words.
  private static func separated(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    var index = 0
    while let lead = text[index...].firstIndex(of: 0xe2) {
      index = lead + 1
      guard lead + 2 < text.count else { break }
      switch (text[lead + 1], text[lead + 2]) {
      // U+202A to U+202E, U+2066 to U+2069.
      case (0x80, 0xaa...0xae), (0x81, 0xa6...0xa9):
        result += text[start..<lead]
        result.append(0x20)
        start = lead + 3
      default: break
      }
    }
    return start == 0 && result.isEmpty ? text : result + text[start...]
  }

  /// Returns whether the index makes words of a scalar: letters, digits, marks and private use characters.
  public static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
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

  /// The first byte of the first character without spaces.
  private static let firstLead: UInt8 = 0xe0

  /// Returns whether a scalar is a letter or a mark of a script that is written without spaces.
  private static func isWithoutSpaces(_ value: UInt32) -> Bool {
    switch value {
    // Thai and Lao.
    case 0xe01...0xe3a, 0xe40...0xe4e, 0xe80...0xece, 0xedc...0xedf: true
    // Burmese, and Khmer.
    case 0x1000...0x103f, 0x1050...0x108f, 0x109a...0x109d, 0xa9e0...0xa9ef, 0xa9fa...0xa9fe, 0xaa60...0xaa76,
      0xaa7a...0xaa7f, 0x1780...0x17d3, 0x17d7, 0x17dc...0x17dd:
      true
    // Tai Le, New Tai Lue, Tai Tham, Tai Viet and Ahom.
    case 0x1950...0x1974, 0x1980...0x19c9, 0x1a20...0x1a7f, 0xaa80...0xaadd, 0x11700...0x1172b: true
    // Chinese, Japanese and Korean.
    case 0x1100...0x11ff, 0x3005...0x3007, 0x3040...0x30ff, 0x3105...0x318f, 0x31f0...0x31ff, 0x3400...0x4dbf,
      0x4e00...0x9fff, 0xac00...0xd7af, 0x20000...0x3ffff:
      true
    default: false
    }
  }
}
