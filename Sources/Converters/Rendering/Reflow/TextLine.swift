/// Words side by side.
struct TextLine {
  private(set) var words: [PageWord]
  /// The box as for text from left to right: rotated, and mirrored if the line is read from right to left.
  private(set) var box: PageBox
  let rotation: Int
  /// The font size of most letters. 0 if unknown.
  private(set) var size = 0.0

  private init(_ word: PageWord) {
    words = [word]
    rotation = word.rotation
    box = word.box.turned(rotation)
  }

  /// Returns the lines of words in reading order.
  static func lines(of words: [PageWord]) -> [TextLine] {
    var lines: [TextLine] = []
    for word in words {
      if lines.last?.isFollowed(by: word) == true {
        lines[lines.count - 1].words.append(word)
        lines[lines.count - 1].box.formUnion(word.box.turned(word.rotation))
      } else {
        lines.append(TextLine(word))
      }
    }
    let isFromRight = words.areFromRight
    for index in lines.indices { lines[index].finish(isFromRight) }
    return lines
  }

  private mutating func finish(_ isFromRight: Bool) {
    size = words.usualSize ?? 0
    words = words.inReadingOrder(isFromRight: isFromRight)
    if isFromRight { (box.left, box.right) = (-box.right, -box.left) }
  }

  private func isFollowed(by word: PageWord) -> Bool {
    guard let last = words.last, word.rotation == rotation else { return false }
    let (here, next) = (last.box.turned(rotation), word.box.turned(rotation))
    let shared = min(here.bottom, next.bottom) - max(here.top, next.top)
    return shared > min(here.height, next.height) / 2 && next.left > here.right - here.height / 2
  }

  /// Calls `body` with each word, and whether it directly follows the previous one, without a gap.
  func forEachWord(_ body: (PageWord, _ isGlued: Bool) -> Void) {
    for (index, word) in words.enumerated() {
      guard index > 0 else {
        body(word, false)
        continue
      }
      let last = words[index - 1]
      let (here, there) = (word.box.turned(rotation), last.box.turned(rotation))
      let gap = max(here.left, there.left) - min(here.right, there.right)
      body(word, !(here.left < there.left ? word : last).hasSpaceAfter && abs(gap) < max(last.size, 1) * 0.3)
    }
  }

  /// Whether the line starts like an item of a list.
  var isItem: Bool {
    guard words.count > 1 else { return false }
    let mark = words[0].text
    // Symbol fonts have their bullets in the private use area.
    if Self.bullets.contains(mark) || mark.count == 1 && mark >= "\u{f000}" && mark <= "\u{f0ff}" { return true }
    guard let end = mark.last, end == "." || end == ")" else { return false }
    let number = mark.dropLast().drop { $0 == "(" }
    return (1...3).contains(number.count) && number.allSatisfy { $0.isASCII && $0.isNumber }
      || number.count == 1 && number.allSatisfy { $0.isASCII && (end == ")" ? $0.isLetter : $0.isLowercase) }
  }

  private static let bullets: Set<String> = [
    "•", "‣", "▪", "▫", "◦", "⁃", "·", "●", "○", "■", "□", "➢", "✓", "-", "–", "*",
  ]
}

extension [PageWord] {
  /// The font size of most letters, in steps of half a point. Nil if unknown.
  var usualSize: Double? {
    var letters: [Double: Int] = [:]
    for word in self where word.size > 0 { letters[(word.size * 2).rounded() / 2, default: 0] += word.text.utf8.count }
    return letters.usualSize
  }
}

extension [Double: Int] {
  /// The size of most letters. If several are equally frequent, the smallest.
  var usualSize: Double? { self.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
}
