/// The text of a page with the positions of its words, in the pixels of the original page.
public struct RecognizedPage: Sendable {
  public struct Word: Sendable {
    public let text: String
    public let box: Box
    /// The start of the first letter, on the baseline.
    public let start: PagePoint
    public let end: PagePoint
    /// The vector across the line, from its lowest letters to its highest ones.
    public let rise: PagePoint
    /// The confidence, from 0 to 100.
    public let confidence: Float
    /// The language, by Tesseract's code.
    public let language: String
  }

  public struct Line: Sendable {
    /// The text in reading order, with its spaces.
    public let text: String
    public let words: [Word]
  }

  public struct Paragraph: Sendable { public let lines: [Line] }
  public struct Block: Sendable { public let paragraphs: [Paragraph] }

  public let width: Int
  public let height: Int
  /// The density, in pixels per inch.
  public let density: Double
  public let blocks: [Block]

  /// A page without text and size.
  public static let empty = RecognizedPage(width: 0, height: 0, density: 72, blocks: [])

  public var words: [Word] { lines.flatMap(\.words) }
  public var lines: [Line] { blocks.flatMap(\.paragraphs).flatMap(\.lines) }

  /// The number of letters, and their mean confidence from 0 to 100. 0 if there are none.
  public var certainty: (letters: Int, mean: Double) {
    var (sum, count) = (0.0, 0)
    for word in words {
      let letters = word.text.unicodeScalars.count
      sum += Double(letters) * Double(word.confidence)
      count += letters
    }
    return (count, count > 0 ? sum / Double(count) : 0)
  }

  /// Returns the text with the positions of its words in another picture.
  ///
  /// - Parameter map: maps the pixels of this page to those of the picture.
  public func placed(in width: Int, _ height: Int, density: Double, by map: (PagePoint) -> PagePoint) -> RecognizedPage
  {
    func placed(_ word: Word) -> Word {
      let (start, end) = (map(word.start), map(word.end))
      let rise = map(word.start + word.rise) - start
      let (left, top, right, bottom) = (
        Double(word.box.left), Double(word.box.top), Double(word.box.right), Double(word.box.bottom)
      )
      let corners = [(left, top), (right, top), (left, bottom), (right, bottom)].map {
        map(PagePoint(x: $0.0, y: $0.1))
      }
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

  /// The text in reading order, with a line feed after each line and an empty line between paragraphs.
  public var text: String {
    blocks.flatMap(\.paragraphs).map { $0.lines.map { $0.text + "\n" }.joined() }.joined(separator: "\n")
  }
}
