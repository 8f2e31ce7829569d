/// A word, in the pixels of the page as it was recognized.
struct FoundWord {
  private(set) var text: String
  private(set) var box: Box
  /// The start of the word, on the baseline.
  let start: PagePoint
  private(set) var end: PagePoint
  /// The height of the line, from the bottom of the lowest letters to the top of the highest ones.
  let height: Double
  private(set) var confidence: Float
  let language: String

  init(
    text: String, box: Box, start: PagePoint, end: PagePoint, height: Double, confidence: Float, language: String
  ) {
    self.text = text
    self.box = box
    self.start = start
    self.end = end
    self.height = height
    self.confidence = confidence
    self.language = language
  }

  /// Whether the letters are side by side, from left to right.
  var isLevel: Bool { end.x - start.x > abs(end.y - start.y) }

  /// The vector across the line, to the left of the reading direction.
  var rise: PagePoint {
    let along = end - start
    let length = max(along.length, 1)
    return PagePoint(x: along.y / length, y: -along.x / length) * height
  }

  /// Returns the word with its box in a picture that is larger and extends further to the left.
  func moved(by scale: Double, from left: Int) -> FoundWord {
    var word = self
    word.box.left = left + Int(Double(box.left) * scale)
    word.box.right = left + Int(Double(box.right) * scale)
    return word
  }

  /// Replaces the letters by those of another recognition.
  mutating func read(as other: FoundWord) {
    text = other.text
    confidence = other.confidence
  }

  /// Cuts off the part to the right of a position, and a space before it.
  mutating func end(before right: Int) {
    let last = right - Int(height * 0.25)
    guard right > box.left, right < box.right, last > box.left else { return }
    let share = Double(last - box.left) / Double(box.width)
    end = start + (end - start) * share
    box.right = last
  }
}
