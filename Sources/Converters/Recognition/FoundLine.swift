/// A line of words, in the pixels of the page as it was recognized.
struct FoundLine {
  /// The text in reading order, with its spaces.
  private(set) var text: String
  private(set) var words: [FoundWord]

  init(text: String, words: [FoundWord]) {
    self.text = text
    self.words = words
  }

  typealias Paragraph = [FoundLine]
  typealias Block = [Paragraph]

  /// The minimum confidence of a sure word, in percent. On a clean page, more than a third of the words below it are
  /// wrong, and hardly any above it.
  private static let sure: Float = 80

  /// Whether recognizing the line again may help: its words are on a horizontal line and separated by spaces.
  var isUnsure: Bool {
    words.contains { $0.confidence < Self.sure } && words.allSatisfy(\.isLevel)
      && text == words.map(\.text).joined(separator: " ")
  }

  /// Replaces unsure words by surer ones of another recognition at the same positions.
  ///
  /// - Parameter nearness: the maximum distance between the ends of such words, in pixels.
  mutating func improve(by other: [FoundWord], nearness: Int) {
    for index in words.indices where words[index].confidence < Self.sure {
      let box = words[index].box
      let same = other.filter { abs($0.box.left - box.left) <= nearness && abs($0.box.right - box.right) <= nearness }
      guard same.count == 1, same[0].confidence > words[index].confidence else { continue }
      words[index].read(as: same[0])
    }
    text = words.map(\.text).joined(separator: " ")
  }

  var box: Box? { .around(words.map(\.box)) }

  /// Returns the line at its position on the original page.
  func placed(by map: PixelMap, within size: (width: Int, height: Int)) -> RecognizedPage.Line {
    var words = words
    let order = words.indices.sorted { words[$0].box.left < words[$1].box.left }
    // If letters touch, Tesseract includes the next word's first ones in both.
    for (one, next) in zip(order, order.dropFirst()) where words[one].isLevel && words[next].isLevel {
      words[one].end(before: words[next].box.left)
    }
    return RecognizedPage.Line(
      text: text,
      words: words.map { word in
        RecognizedPage.Word(
          text: word.text, box: map.edges(around: word.box, within: size), start: map(word.start), end: map(word.end),
          rise: map(word.start + word.rise) - map(word.start), confidence: word.confidence, language: word.language)
      })
  }
}
