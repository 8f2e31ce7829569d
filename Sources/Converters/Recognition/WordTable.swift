/// Recognized text as Tesseract's table, with tab-separated rows for each page, block, paragraph, line and word.
public struct WordTable {
  private var pages = 0

  public init() {}

  /// The row with the names of the columns.
  public var head: String {
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
  }

  /// Returns the rows of the next page.
  public mutating func page(_ page: RecognizedPage) -> String {
    pages += 1
    var rows = ""
    /// Adds a row. The numbers identify the block, paragraph, line and word; they are 0 in the rows of larger units.
    func add(
      level: Int, _ numbers: (Int, Int, Int, Int), _ box: Box?, confidence: String = "-1", _ text: String = ""
    ) {
      guard let box else { return }
      rows += "\(level)\t\(pages)\t\(numbers.0)\t\(numbers.1)\t\(numbers.2)\t\(numbers.3)\t"
      rows += "\(box.left)\t\(box.top)\t\(box.width)\t\(box.height)\t\(confidence)\t\(text)\n"
    }
    add(level: 1, (0, 0, 0, 0), Box(left: 0, top: 0, right: page.width, bottom: page.height))
    for (block, inBlock) in page.blocks.enumerated() {
      add(level: 2, (block + 1, 0, 0, 0), .around(inBlock.paragraphs.flatMap(\.lines).flatMap(\.words).map(\.box)))
      for (paragraph, inParagraph) in inBlock.paragraphs.enumerated() {
        add(level: 3, (block + 1, paragraph + 1, 0, 0), .around(inParagraph.lines.flatMap(\.words).map(\.box)))
        for (line, inLine) in inParagraph.lines.enumerated() {
          add(level: 4, (block + 1, paragraph + 1, line + 1, 0), .around(inLine.words.map(\.box)))
          for (word, given) in inLine.words.enumerated() {
            let confidence = (Double(given.confidence) * 100).rounded() / 100
            add(
              level: 5, (block + 1, paragraph + 1, line + 1, word + 1), given.box, confidence: "\(confidence)",
              given.text)
          }
        }
      }
    }
    return rows
  }
}
