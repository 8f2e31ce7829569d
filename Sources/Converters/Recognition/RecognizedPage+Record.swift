/// The text of a page as it is kept for several conversions: a line for each block, paragraph, line and word.
extension RecognizedPage {
  private static let mark = "page"

  /// The text of the record. Numbers are exact.
  public var record: String {
    var text = "\(Self.mark) \(width) \(height) \(density)\n"
    for block in blocks {
      text += "b\n"
      for paragraph in block.paragraphs {
        text += "p\n"
        for line in paragraph.lines {
          text += "l \(Self.escaped(line.text))\n"
          for word in line.words {
            let box = word.box
            text += "w \(box.left) \(box.top) \(box.right) \(box.bottom) \(word.start.x) \(word.start.y) "
            text += "\(word.end.x) \(word.end.y) \(word.rise.x) \(word.rise.y) \(word.confidence) "
            text += "\(word.language.isEmpty ? "-" : word.language) \(Self.escaped(word.text))\n"
          }
        }
      }
    }
    return text
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\r", with: "\\r")
  }

  private static func plain(_ text: Substring) -> String {
    var result = ""
    var rest = text
    while let letter = rest.popFirst() {
      guard letter == "\\", let next = rest.popFirst() else {
        result.append(letter)
        continue
      }
      result.append(next == "n" ? "\n" : next == "r" ? "\r" : next)
    }
    return result
  }

  /// Parses a record. Returns `nil` if it is not one.
  public init?(record text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: true)[...]
    let head = lines.popFirst()?.split(separator: " ") ?? []
    guard head.count == 4, head[0] == Self.mark, let width = Int(head[1]), let height = Int(head[2]),
      let density = Double(head[3]), (1...Self.longest).contains(width), (1...Self.longest).contains(height),
      density.isFinite, density > 0
    else { return nil }
    var blocks: [[[(text: String, words: [Word])]]] = []
    for line in lines {
      let fields = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      let rest = fields.count > 1 ? fields[1] : ""
      switch fields[0] {
      case "b": blocks.append([])
      case "p":
        guard !blocks.isEmpty else { return nil }
        blocks[blocks.count - 1].append([])
      case "l":
        guard let block = blocks.indices.last, let paragraph = blocks[block].indices.last else { return nil }
        blocks[block][paragraph].append((Self.plain(rest), []))
      case "w":
        guard let block = blocks.indices.last, let paragraph = blocks[block].indices.last,
          let line = blocks[block][paragraph].indices.last, let word = Self.word(rest)
        else { return nil }
        blocks[block][paragraph][line].words.append(word)
      default: return nil
      }
    }
    self.init(
      width: width, height: height, density: density,
      blocks: blocks.map { block in
        Block(
          paragraphs: block.map { paragraph in
            Paragraph(lines: paragraph.map { Line(text: $0.text, words: $0.words) })
          })
      })
  }

  /// The maximum side of a page, in pixels.
  private static let longest = 1 << 24

  private static func word(_ text: Substring) -> Word? {
    let fields = text.split(separator: " ", maxSplits: 12, omittingEmptySubsequences: false)
    guard fields.count == 13 else { return nil }
    let box = fields[..<4].compactMap { Int($0) }
    let places = fields[4..<10].compactMap { Double($0) }
    guard box.count == 4, box.allSatisfy({ abs($0) <= longest }), places.count == 6,
      places.allSatisfy({ $0.isFinite && abs($0) <= Double(longest) }), let confidence = Float(fields[10]),
      confidence.isFinite
    else { return nil }
    return Word(
      text: plain(fields[12]), box: Box(left: box[0], top: box[1], right: box[2], bottom: box[3]),
      start: PagePoint(x: places[0], y: places[1]), end: PagePoint(x: places[2], y: places[3]),
      rise: PagePoint(x: places[4], y: places[5]), confidence: confidence,
      language: fields[11] == "-" ? "" : String(fields[11]))
  }
}
