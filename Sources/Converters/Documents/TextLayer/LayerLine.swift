/// A line of invisible text over the picture of one, in the unit square of the page as it is shown: from its upper left
/// corner to the right and down.
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
    /// On the line that letters stand on.
    public let start: Place
    public let end: Place
    /// The way from the lowest letters' feet to the highest ones' heads.
    public let rise: Place

    public init(text: String, start: Place, end: Place, rise: Place) {
      self.text = text
      self.start = start
      self.end = end
      self.rise = rise
    }
  }

  public let words: [Word]
  /// Whether there are spaces between them: not all scripts have any.
  public let isSpaced: Bool

  public init(words: [Word], isSpaced: Bool) {
    self.words = words
    self.isSpaced = isSpaced
  }
}
