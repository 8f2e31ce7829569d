internal import Bytes
internal import Index
internal import Queries

/// Similar words for those that the index does not have.
extension FolderSearch {
  /// Returns a query whose first unknown word is replaced by the most frequent similar one.
  func suggestion(_ query: FindQuery) throws(Fault) -> String? {
    for case .words(let words, _, let isStart) in query.terms where !isStart {
      for word in words where word.count >= 4 {
        if try isKnown(word) { continue }
        if let better = try nearest(to: word) { return better }
      }
    }
    return nil
  }

  /// Returns whether a document that may be found has a word. The index has those of removed documents, too.
  private func isKnown(_ word: String) throws(Fault) -> Bool {
    let expression = "\"\(word.replacing("\"", with: "\"\""))\""
    for part in index.parts {
      for words in [DocumentIndex.Words.heads, .bodies] {
        guard let numbers = part.index.numbers(matching: expression, in: words) else { throw .noDocumentIndex }
        let compared = numbers.prefix(Self.comparedAtMost)
        if let visibility {
          if try !visibility.visible(among: Array(compared), of: part).isEmpty { return true }
        } else if compared.contains(where: { part.index.document($0) != nil }) {
          return true
        }
      }
    }
    return false
  }

  /// The maximum number of documents with a word that are examined, and of similar words.
  private static let comparedAtMost = 500
  private static let similarAtMost = 50

  /// Returns the most similar word of the index, and of several the most frequent. The first letter is the same.
  private func nearest(to word: String) throws(Fault) -> String? {
    let letters = Array(word.unicodeScalars)
    guard let first = letters.first else { return nil }
    let last = String(String.UnicodeScalarView([first])) + "\u{10ffff}"
    var similar: [String: (distance: Int, count: Int)] = [:]
    for part in index.parts {
      for words in [DocumentIndex.Words.heads, .bodies] {
        let limit = Self.wordsAtMost / index.parts.count
        for (candidate, count) in part.index.words(of: words, from: String(first), through: last, atMost: limit) {
          let other = Array(candidate.unicodeScalars)
          guard abs(other.count - letters.count) <= 2 else { continue }
          let distance = Self.distance(letters, other)
          guard distance <= (letters.count < 6 ? 1 : 2) else { continue }
          similar[candidate, default: (distance, 0)].count += isOther ? 0 : count
        }
      }
    }
    let nearest = similar.sorted { one, other in
      (one.value.distance, -one.value.count, one.key) < (other.value.distance, -other.value.count, other.key)
    }
    for (candidate, _) in nearest.prefix(Self.similarAtMost) where try isKnown(candidate) { return candidate }
    return nil
  }

  /// The maximum number of words that are compared.
  private static let wordsAtMost = 200_000

  /// Returns the number of letters to insert, remove, replace or exchange with the next. Returns 3 for more than 2.
  static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for (i, letter) in one.enumerated() {
      var row = [i + 1]
      for (j, letterOfOther) in other.enumerated() {
        var least = min(row[j] + 1, last[j + 1] + 1, last[j] + (letter == letterOfOther ? 0 : 1))
        if i > 0, j > 0, letter == other[j - 1], one[i - 1] == letterOfOther { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      if (row.min() ?? 3) > 2 { return 3 }
      (before, last) = (last, row)
    }
    return last[other.count]
  }
}
