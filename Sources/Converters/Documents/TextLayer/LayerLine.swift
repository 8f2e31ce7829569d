/// A line of invisible text over its picture. Coordinates are in the unit square of the page as shown, with the origin
/// at the upper left.
public struct LayerLine: Sendable {
  public struct Place: Sendable {
    public let x: Double
    public let y: Double

    public init(x: Double, y: Double) {
      self.x = x
      self.y = y
    }
  }

  public struct Word: Sendable {
    public let text: String
    /// The start of the word, on the baseline.
    public let start: Place
    public let end: Place
    /// The vector from the bottom of the lowest letters to the top of the highest ones.
    public let rise: Place

    public init(text: String, start: Place, end: Place, rise: Place) {
      self.text = text
      self.start = start
      self.end = end
      self.rise = rise
    }
  }

  public let words: [Word]
  /// Whether spaces separate the words. Not all scripts have spaces.
  public let isSpaced: Bool

  public init(words: [Word], isSpaced: Bool) {
    self.words = words
    self.isSpaced = isSpaced
  }
}
