/// Corrections of misspelt words.
package enum Spelling {
  /// Returns the word that was probably meant. Returns `nil` if none is similar, or if the word is one of them.
  package static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let most = max(1, word.count / 3)
    let near = words.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= most }
    let best = near.min { ($0.distance, $0.word) < ($1.distance, $1.word) }
    return best?.distance == 0 ? nil : best?.word
  }

  /// Returns a hint such as ` (did you mean list?)`. Returns `other` if no word is similar.
  package static func hint(on word: String, among words: some Sequence<String>, otherwise other: String) -> String {
    nearest(to: word, among: words).map { " (did you mean \($0)?)" } ?? other
  }

  /// Returns the number of characters that have to be inserted, removed, replaced or exchanged with their neighbour.
  /// O(n·m).
  static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one), Array(other))
    if one.isEmpty || other.isEmpty { return max(one.count, other.count) }
    var rows = [Array(0...other.count)]
    for (index, character) in one.enumerated() {
      var row = [index + 1]
      for (column, otherCharacter) in other.enumerated() {
        let isSame = character == otherCharacter
        var least = min(row[column] + 1, rows[index][column + 1] + 1, rows[index][column] + (isSame ? 0 : 1))
        if index > 0, column > 0, character == other[column - 1], one[index - 1] == otherCharacter {
          least = min(least, rows[index - 1][column - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}
