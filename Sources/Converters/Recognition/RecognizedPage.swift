/// The text of a page, with the places of its words, in the pixels of the page as it was given.
public struct RecognizedPage: Sendable {
  public struct Word: Sendable {
    public let text: String
    public let box: Box
    /// From the first letter's to the last one's end, on the line that letters stand on.
    public let start: Point
    public let end: Point
    /// The way across the line, as far as its highest letters are from its lowest.
    public let rise: Point
    /// From 0 to 100.
    public let confidence: Float
    /// As Tesseract calls it.
    public let language: String
  }

  public struct Line: Sendable {
    /// In the order in which it is read, with its spaces.
    public let text: String
    public let words: [Word]
  }

  public struct Paragraph: Sendable { public let lines: [Line] }
  public struct Block: Sendable { public let paragraphs: [Paragraph] }

  public let width: Int
  public let height: Int
  /// Pixels an inch.
  public let density: Double
  public let blocks: [Block]

  public var words: [Word] { lines.flatMap(\.words) }
  public var lines: [Line] { blocks.flatMap(\.paragraphs).flatMap(\.lines) }

  /// As one reads it: lines by line feeds, paragraphs by an empty line between them.
  public var text: String {
    blocks.flatMap(\.paragraphs).map { $0.lines.map { $0.text + "\n" }.joined() }.joined(separator: "\n")
  }
}
