/// The text recognized on a page, in the pixels of the page as it was recognized.
struct PageText {
  let page: RecognitionPage
  private var blocks: [FoundLine.Block]

  /// The reciprocal of the maximum share of unsure lines, 1 / 3. With more, recognizing lines again does not help.
  private static let mostUnsure = 3

  init(_ blocks: [FoundLine.Block], on page: RecognitionPage) {
    self.blocks = blocks
    self.page = page
  }

  /// The mean confidence of the letters, from 0 to 100. 0 if there are none.
  var confidence: Double {
    var (sum, count) = (0.0, 0.0)
    for word in blocks.joined().joined().flatMap(\.words) {
      let letters = Double(word.text.unicodeScalars.count)
      sum += letters * Double(word.confidence)
      count += letters
    }
    return count > 0 ? sum / count : 0
  }

  /// Calls `change` with the unsure lines if they are few.
  mutating func improve<Failure>(_ change: (inout FoundLine) throws(Failure) -> Void) throws(Failure) {
    let lines = blocks.joined().joined()
    let unsure = lines.count(where: \.isUnsure)
    guard unsure > 0, unsure * Self.mostUnsure <= lines.count + Self.mostUnsure else { return }
    for block in blocks.indices {
      for paragraph in blocks[block].indices {
        for line in blocks[block][paragraph].indices where blocks[block][paragraph][line].isUnsure {
          try change(&blocks[block][paragraph][line])
        }
      }
    }
  }

  /// Returns the text at its position on the original page.
  func placed(within size: (width: Int, height: Int)) -> [RecognizedPage.Block] {
    blocks.map { block in
      RecognizedPage.Block(
        paragraphs: block.map { paragraph in
          RecognizedPage.Paragraph(lines: paragraph.map { $0.placed(by: page.map, within: size) })
        })
    }
  }
}
