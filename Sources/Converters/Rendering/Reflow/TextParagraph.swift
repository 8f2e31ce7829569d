/// Lines that form a paragraph.
struct TextParagraph {
  private(set) var lines: [TextLine]
  /// The position on the page.
  private(set) var box: PageBox

  private init(_ line: TextLine) {
    lines = [line]
    box = line.pageBox
  }

  private mutating func append(_ line: TextLine) {
    lines.append(line)
    box.formUnion(line.pageBox)
  }

  var size: Double { lines[0].size }
  var isItem: Bool { lines[0].isItem }

  /// Lines below each other at equal distances.
  private struct Column {
    var box: PageBox
    /// The distances from each line's top to the next one's.
    var steps: [Double] = []
    /// The line distance within paragraphs. Most distances are equal to it; bullets and raised signs cause smaller
    /// ones.
    var step: Double { steps.isEmpty ? .infinity : steps.sorted()[steps.count / 4] }
  }

  /// Returns the paragraphs of lines in reading order.
  static func paragraphs(of lines: [TextLine]) -> [TextParagraph] {
    var (columns, column): ([Column], [Int]) = ([], [])
    for (index, line) in lines.enumerated() {
      if index > 0, line.isBelow(lines[index - 1]) {
        columns[columns.count - 1].box.formUnion(line.box)
        columns[columns.count - 1].steps.append(line.box.top - lines[index - 1].box.top)
      } else {
        columns.append(Column(box: line.box))
      }
      column.append(columns.count - 1)
    }
    let steps = columns.map(\.step)
    var paragraphs: [TextParagraph] = []
    for (index, line) in lines.enumerated() {
      if let last = paragraphs.last,
        column[index] == column[index - 1]
          ? last.goesOn(with: line, in: columns[column[index]].box, steps[column[index]])
          : last.goesOnElsewhere(with: line)
      {
        paragraphs[paragraphs.count - 1].append(line)
      } else {
        paragraphs.append(TextParagraph(line))
      }
    }
    return paragraphs
  }

  private func goesOn(with line: TextLine, in column: PageBox, _ step: Double) -> Bool {
    let last = lines[lines.count - 1]
    if line.isItem || line.box.top - last.box.top > step * 1.35 { return false }
    let em = max(line.size, 1)
    // The line is the first of a paragraph that is marked only by its indentation.
    if lines.count > 1 || !isItem, line.box.left > last.box.left + em * 0.8,
      last.box.left < column.left + em / 2
    {
      return false
    }
    let first = line.words[0].box.turned(line.rotation).width
    return last.box.right + first + em / 2 > column.right - column.width / 12
  }

  /// Returns whether the paragraph continues in the next column, in the middle of a sentence.
  private func goesOnElsewhere(with line: TextLine) -> Bool {
    let last = lines[lines.count - 1]
    guard last.rotation == line.rotation, last.size == line.size, lines.count > 1,
      line.box.top < last.box.top, line.box.left > last.box.right || line.box.right < last.box.left
    else { return false }
    return line.words[0].text.first?.isLowercase == true && last.words.last?.text.last?.isPunctuation == false
  }

  /// Returns the level of a heading among text of a size. Returns `nil` if this is not a heading.
  func headingLevel(over body: Double) -> Int? {
    guard body > 0, size >= body * 1.15, lines.count <= 4 else { return nil }
    let words = lines.flatMap(\.words).map(\.text)
    guard words.reduce(0, { $0 + $1.count }) <= 250, words.contains(where: { $0.contains(where: \.isLetter) })
    else { return nil }
    return size >= body * 1.8 ? 1 : size >= body * 1.35 ? 2 : 3
  }

  /// Calls `body` with each word. A word hyphenated at the end of a line is passed in two parts without a gap and
  /// without the hyphen.
  func forEachWord(_ body: (_ word: PageWord, _ text: Substring, _ isGlued: Bool) -> Void) {
    var isParted = false
    for (index, line) in lines.enumerated() {
      let next = index + 1 < lines.count ? lines[index + 1].words[0].text : ""
      var rest = line.words.count
      line.forEachWord { word, isGlued in
        rest -= 1
        let glued = rest == line.words.count - 1 ? isParted : isGlued
        isParted = rest == 0 && word.text.isParted(before: next)
        body(word, isParted ? word.text.dropLast() : word.text[...], glued)
      }
    }
  }
}

extension TextLine {
  fileprivate var pageBox: PageBox { words.dropFirst().reduce(into: words[0].box) { $0.formUnion($1.box) } }

  /// Returns whether the line can be in the same paragraph as the line above it.
  fileprivate func isBelow(_ line: TextLine) -> Bool {
    let step = box.top - line.box.top
    let em = max(line.size, 1)
    return rotation == line.rotation && abs(size - line.size) <= em / 10 && step > em / 2 && step < em * 2.2
      && box.left < line.box.right && box.right > line.box.left
  }
}

extension String {
  /// Returns whether a hyphen at the end only separates the parts of a word that continues in the next line.
  fileprivate func isParted(before next: String) -> Bool {
    guard next.first?.isLowercase == true, let hyphen = last else { return false }
    return (hyphen == "-" || hyphen == "\u{ad}" || hyphen == "\u{2010}") && dropLast().last?.isLetter == true
  }
}
