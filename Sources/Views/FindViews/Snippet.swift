internal import Bytes
internal import Mail
internal import Queries
internal import Text

/// A part of a document's text around the words of a query.
package struct Snippet: Sendable, Hashable {
  /// One line of text.
  package let text: String
  /// The words of the query in it, as ranges of UTF-8 bytes, in ascending order.
  package let marks: [Range<Int>]

  package static let empty = Snippet(text: "", marks: [])

  private init(text: String, marks: [Range<Int>]) { (self.text, self.marks) = (text, marks) }

  /// The size of a snippet, the size before its first word, and the size of the text that is examined, in bytes.
  private static let longest = 220
  private static let before = 60
  private static let most = 1 << 20

  /// Creates the snippet of a text in UTF-8. Returns `nil` if the text has none of the words, unless `isLast`.
  init?(of text: [UInt8], _ query: FindQuery, isLast: Bool = true) {
    let text = text.count > Self.most ? Array(text.prefix(Self.most)) : text
    var found: [Match] = []
    let words = Words(query.terms)
    if !words.isEmpty { found = words.matches(in: text) }
    for pattern in query.patterns {
      // An expression such as x* matches the empty text, which has nothing to mark.
      if let range = pattern.firstMatch(in: text), !range.isEmpty { found.append(Match(range: range, word: -1)) }
    }
    found.sort { $0.range.lowerBound < $1.range.lowerBound }
    if found.isEmpty, !isLast { return nil }
    let start = Self.best(found)
    self.init(line: text, from: start, found)
  }

  /// A word of the query in a text.
  struct Match {
    let range: Range<Int>
    let word: Int
  }

  /// Returns the offset of the match that has the most different words near it.
  private static func best(_ found: [Match]) -> Int {
    var best = (start: found.first?.range.lowerBound ?? 0, count: 0)
    for (index, match) in found.prefix(2000).enumerated() {
      var words: Set<Int> = []
      for near in found[index...].prefix(40) {
        if near.range.upperBound - match.range.lowerBound > longest - before { break }
        words.insert(near.word)
      }
      if words.count > best.count { best = (match.range.lowerBound, words.count) }
    }
    return best.start
  }

  private init(line text: [UInt8], from match: Int, _ found: [Match]) {
    var start = max(0, match - Self.before)
    if start > 0 {
      // Starts with a whole word, or at least with a whole character.
      if let space = text[start..<match].firstIndex(where: { $0 <= 0x20 }) { start = space + 1 }
      while start < match, text[start] & 0xc0 == 0x80 { start += 1 }
    }
    var line: [UInt8] = start > 0 ? Array("… ".utf8) : []
    var marks: [Range<Int>] = []
    var next = found.firstIndex { $0.range.lowerBound >= start } ?? found.count
    var place = start
    var isSpace = true
    while place < text.count, line.count < Self.longest || text[place] & 0xc0 == 0x80 {
      if next < found.count, found[next].range.lowerBound == place {
        let range = found[next].range
        marks.append(line.count..<line.count + range.count)
        line += text[range]
        place = range.upperBound
        isSpace = false
        while next < found.count, found[next].range.lowerBound < place { next += 1 }
        continue
      }
      let byte = text[place]
      place += 1
      if byte <= 0x20 || byte == 0x7f {
        if !isSpace { line.append(0x20) }
        isSpace = true
      } else {
        line.append(byte)
        isSpace = false
      }
    }
    while line.last == 0x20 { line.removeLast() }
    if place < text.count { line += Array(" …".utf8) }
    self.init(text: String(decoding: line, as: UTF8.self), marks: marks)
  }
}

/// The words of a query, to find them in a text.
private struct Words {
  private var whole: [[UInt8]: Int] = [:]
  private var starts: [(start: [UInt8], word: Int)] = []
  /// Pairs of characters of scripts without spaces.
  private var pairs: [(pair: [UInt8], word: Int)] = []

  var isEmpty: Bool { whole.isEmpty && starts.isEmpty && pairs.isEmpty }

  init(_ terms: [SearchQuery]) {
    var count = 0
    for term in terms {
      let (words, isStart): ([String], Bool)
      switch term {
      case .words(let found, _, let isPrefix): (words, isStart) = (found, isPrefix)
      case .near(let phrases, _): (words, isStart) = (phrases.flatMap(\.self), false)
      default: continue
      }
      for (index, word) in words.enumerated() {
        let bytes = Array(word.utf8)
        if let first = bytes.first, first >= 0xe0, word.unicodeScalars.count <= 2 {
          pairs.append((bytes, count))
        } else if isStart, index == words.count - 1 {
          starts.append((bytes, count))
        } else {
          whole[bytes] = count
        }
        count += 1
      }
    }
  }

  func matches(in text: [UInt8]) -> [Snippet.Match] {
    var found: [Snippet.Match] = []
    var missing = Set(whole.values).union(starts.map(\.word)).union(pairs.map(\.word))
    var place = 0
    var end = text.count
    while place < end, found.count < 10_000 {
      guard Self.isPart(text[place]) else {
        place += 1
        continue
      }
      let start = place
      let isPlain = text[place] < 0x80
      if isPlain {
        while place < text.count, text[place] < 0x80, Self.isPart(text[place]) { place += 1 }
      }
      // A word with characters outside ASCII, or the punctuation before one.
      while place < text.count, Self.isPart(text[place]) {
        guard let (scalar, size) = Self.scalar(text, at: place) else {
          place += 1
          break
        }
        let isInWord = scalar.properties.isDefaultIgnorableCodePoint || WordText.isWordPart(scalar)
        if !isInWord {
          if place == start { place += size }
          break
        }
        place += size
      }
      let raw = text[start..<place]
      let isASCII = raw.allSatisfy { $0 < 0x80 }
      if isASCII, raw.count > 64 { continue }
      let word = isASCII ? raw.map { $0.asciiLowercase } : FoldedText.folded(Array(raw.prefix(4096)))
      if let number = number(of: word, isPlain: isASCII) {
        found.append(Snippet.Match(range: start..<place, word: number))
        if missing.remove(number) != nil, missing.isEmpty { end = min(end, place + Self.further) }
      }
    }
    return found
  }

  private func number(of word: [UInt8], isPlain: Bool) -> Int? {
    if let number = whole[word] { return number }
    if let start = starts.first(where: { word.starts(with: $0.start) }) { return start.word }
    if isPlain { return nil }
    return pairs.first { word.firstOccurrence(of: $0.pair) != nil }?.word
  }

  /// Returns the character at an index, and its size in bytes. Returns `nil` if it is not UTF-8.
  private static func scalar(_ text: [UInt8], at index: Int) -> (Unicode.Scalar, Int)? {
    let lead = text[index]
    if lead < 0x80 { return (Unicode.Scalar(lead), 1) }
    let size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    guard index + size <= text.count else { return nil }
    var value = UInt32(lead) & (size == 4 ? 0x07 : size == 3 ? 0x0f : 0x1f)
    for byte in text[(index + 1)..<(index + size)] {
      guard byte & 0xc0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3f)
    }
    return Unicode.Scalar(value).map { ($0, size) }
  }

  /// The size of the text that is examined after all words have been found, in bytes. They may be nearer to each other
  /// in it.
  private static let further = 64 << 10

  private static func isPart(_ byte: UInt8) -> Bool { byte >= 0x80 || byte.isAsciiLetter || byte.isAsciiDigit }
}
