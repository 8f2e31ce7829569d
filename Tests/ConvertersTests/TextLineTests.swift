import Testing

@testable import Rendering

/// The lines of pages that begin an item of a list.
@Suite struct TextLineTests {
  private func lines(_ words: [String]) -> [TextLine] {
    var left = 0.0
    return TextLine.lines(
      of: words.map { word in
        let right = left + 10 * Double(max(1, word.count))
        defer { left = right + 5 }
        let box = PageBox(left: left, top: 0, right: right, bottom: 10)
        return PageWord(text: word, box: box, size: 10, rotation: 0, hasSpaceAfter: true)
      })
  }

  @Test(arguments: [
    ("1.", true), ("1)", true), ("(1)", true), ("123.", true), ("1234.", false), ("(12)", true), ("a)", true),
    ("(b)", true),
    ("a.", true), ("A.", false), ("A)", true), ("ab)", false), ("•", true), ("\u{f0b7}", true), ("1", false),
    ("(1", false), (")", false),
    ("word", false), ("1,", false),
  ])
  func itemsOfListsAreRecognized(_ mark: String, _ isItem: Bool) {
    let lines = lines([mark, "text", "more"])
    #expect(lines.count == 1 && lines[0].isItem == isItem)
    // A mark alone is none.
    #expect(!self.lines([mark])[0].isItem)
  }
}
