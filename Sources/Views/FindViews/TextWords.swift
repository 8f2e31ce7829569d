internal import Bytes
internal import Mail
internal import Queries
internal import Text

/// The words of a text as the index has them, in their order.
struct TextWords {
  /// The words, each between two spaces.
  private var line: [UInt8] = [0x20]

  /// - Parameter text: in UTF-8.
  init(_ text: [UInt8]) {
    let folded = WordText.indexed(text)
    line.reserveCapacity(folded.count + 2)
    var index = 0
    while index < folded.count {
      let lead = folded[index]
      let size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
      let end = min(index + size, folded.count)
      if lead < 0x80 ? lead.isAsciiLetter || lead.isAsciiDigit : Self.isWordPart(folded[index..<end]) {
        line += folded[index..<end]
      } else if line.last != 0x20 {
        line.append(0x20)
      }
      index = end
    }
    if line.last != 0x20 { line.append(0x20) }
  }

  private static func isWordPart(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let scalar = String(decoding: bytes, as: UTF8.self).unicodeScalars.first else { return false }
    return WordText.isWordPart(scalar)
  }

  /// Returns whether the words contain a phrase or words near each other.
  func contain(_ term: SearchQuery) -> Bool {
    switch term {
    case .words(let words, _, let isStart): return contain(words, isStart: isStart)
    case .near(let phrases, let distance): return areNear(phrases, distance)
    default: return true
    }
  }

  private func contain(_ words: [String], isStart: Bool) -> Bool {
    let sought = [0x20] + Array(words.joined(separator: " ").utf8) + (isStart ? [] : [0x20])
    return line.firstOccurrence(of: sought) != nil
  }

  /// Returns whether phrases follow each other with at most `distance` words between them, in any order.
  private func areNear(_ phrases: [[String]], _ distance: Int) -> Bool {
    let words = line.split(separator: 0x20)
    let sought = phrases.map { phrase in phrase.map { Array($0.utf8) } }
    var found: [(place: Int, phrase: Int)] = []
    for place in words.indices {
      for (number, phrase) in sought.enumerated() where place + phrase.count <= words.count {
        if phrase.indices.allSatisfy({ words[place + $0].elementsEqual(phrase[$0]) }) { found.append((place, number)) }
      }
    }
    let lengths = sought.reduce(0) { $0 + $1.count }
    /// The latest position of each phrase so far. These are the nearest ones up to the current word.
    var last = [Int?](repeating: nil, count: sought.count)
    for (place, phrase) in found {
      last[phrase] = place
      let places = last.compactMap(\.self)
      guard places.count == sought.count, let first = places.min() else { continue }
      let end = zip(places, sought).map { $0 + $1.count }.max() ?? first
      if end - first - lengths <= distance { return true }
    }
    return false
  }
}
