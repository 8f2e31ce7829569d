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

  /// The number of letters, and their mean confidence, from 0 to 100; 0 without any.
  public var certainty: (letters: Int, mean: Double) {
    var (sum, count) = (0.0, 0)
    for word in words {
      let letters = word.text.unicodeScalars.count
      sum += Double(letters) * Double(word.confidence)
      count += letters
    }
    return (count, count > 0 ? sum / Double(count) : 0)
  }

  /// The text with its words where they are in another picture.
  ///
  /// - Parameter map: from the pixels of this page to those of the picture.
  public func placed(in width: Int, _ height: Int, density: Double, by map: (Point) -> Point) -> RecognizedPage {
    func placed(_ word: Word) -> Word {
      let (start, end) = (map(word.start), map(word.end))
      let rise = map(word.start + word.rise) - start
      let (left, top, right, bottom) = (
        Double(word.box.left), Double(word.box.top), Double(word.box.right), Double(word.box.bottom)
      )
      let corners = [(left, top), (right, top), (left, bottom), (right, bottom)].map { map(Point(x: $0.0, y: $0.1)) }
      return Word(
        text: word.text, box: .around(corners, within: (width, height)), start: start, end: end, rise: rise,
        confidence: word.confidence, language: word.language)
    }
    return RecognizedPage(
      width: width, height: height, density: density,
      blocks: blocks.map { block in
        Block(
          paragraphs: block.paragraphs.map { paragraph in
            Paragraph(lines: paragraph.lines.map { Line(text: $0.text, words: $0.words.map(placed)) })
          })
      })
  }

  /// As one reads it: lines by line feeds, paragraphs by an empty line between them.
  public var text: String {
    blocks.flatMap(\.paragraphs).map { $0.lines.map { $0.text + "\n" }.joined() }.joined(separator: "\n")
  }
}
