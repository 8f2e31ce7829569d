/// A word in the pixels of a page as it was read.
struct FoundWord {
  private(set) var text: String
  private(set) var box: Box
  /// On the line that letters stand on.
  let start: Point
  private(set) var end: Point
  /// Of its line, from the lowest letters' feet to the highest ones' heads.
  let height: Double
  private(set) var confidence: Float
  let language: String

  init(
    text: String, box: Box, start: Point, end: Point, height: Double, confidence: Float, language: String
  ) {
    self.text = text
    self.box = box
    self.start = start
    self.end = end
    self.height = height
    self.confidence = confidence
    self.language = language
  }

  /// Whether its letters stand beside one another, from left to right.
  var isLevel: Bool { end.x - start.x > abs(end.y - start.y) }

  /// The way across its line, to the left of who reads along it.
  var rise: Point {
    let along = end - start
    let length = max(along.length, 1)
    return Point(x: along.y / length, y: -along.x / length) * height
  }

  /// The word with its box in a picture that is larger, and goes on to the left.
  func moved(by scale: Double, from left: Int) -> FoundWord {
    var word = self
    word.box.left = left + Int(Double(box.left) * scale)
    word.box.right = left + Int(Double(box.right) * scale)
    return word
  }

  /// Takes the letters of another reading.
  mutating func read(as other: FoundWord) {
    text = other.text
    confidence = other.confidence
  }

  /// Cuts off what is to the right of a place, and a space before it.
  mutating func end(before right: Int) {
    let last = right - Int(height * 0.25)
    guard right > box.left, right < box.right, last > box.left else { return }
    let share = Double(last - box.left) / Double(box.width)
    end = start + (end - start) * share
    box.right = last
  }
}
