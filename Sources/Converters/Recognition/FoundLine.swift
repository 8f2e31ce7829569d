/// A line of words in the pixels of a page as it was read.
struct FoundLine {
  /// In the order in which it is read, with its spaces.
  private(set) var text: String
  private(set) var words: [FoundWord]

  init(text: String, words: [FoundWord]) {
    self.text = text
    self.words = words
  }

  typealias Paragraph = [FoundLine]
  typealias Block = [Paragraph]

  /// Below it, in percent, of the words of a clean page more than a third are wrong; above it hardly any.
  private static let sure: Float = 80

  /// Whether a second look at it may help: its words are on a level line, parted by spaces.
  var isUnsure: Bool {
    words.contains { $0.confidence < Self.sure } && words.allSatisfy(\.isLevel)
      && text == words.map(\.text).joined(separator: " ")
  }

  /// Takes those words of another reading that are at the places of words that were not sure, and are surer.
  ///
  /// - Parameter nearness: how far the ends of a word may be from one another, in pixels.
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

  /// The line where it is on the page as it was given.
  func placed(by map: PixelMap, within size: (width: Int, height: Int)) -> RecognizedPage.Line {
    var words = words
    let order = words.indices.sorted { words[$0].box.left < words[$1].box.left }
    // Where letters touch, Tesseract counts the next word's first ones to both.
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
