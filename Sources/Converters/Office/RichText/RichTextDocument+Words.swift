internal import RichText
internal import WorkerKit

extension RichTextDocument {
  /// Handles a word that determines the destination of the following text. Returns false for other words.
  mutating func takeDestination(_ word: String, isOptional: Bool) -> Bool {
    if groups.current.place == .nothing {
      // The text of a shape is among its properties.
      if word == "shptxt" { groups.current.place = .text }
      return true
    }
    switch word {
    case "fonttbl": groups.current.place = .fonts
    case "stylesheet": groups.current.place = .styles
    case "fldinst":
      groups.current.place = .order
      order = ""
    case "fldrslt": groups.current.link = link
    case "listtext", "pntext": groups.current.place = .label
    case "footnote": startNote(isComment: false)
    case "annotation": startNote(isComment: true)
    case "atnauthor":
      groups.current.place = .author
      author = ""
    case "shptxt", "nestrow": groups.current.place = .text
    // The content of these groups is read.
    case "shppict", "shpinst", "upr", "nesttableprops": break
    case "object", "nonesttables": groups.current.place = .nothing
    case _ where RichTextTokens.hidden.contains(word): groups.current.place = .nothing
    default:
      guard isOptional else { return false }
      if word != "cs", word != "ud", groups.current.place != .styles { groups.current.place = .nothing }
    }
    return true
  }

  mutating func takeLook(_ word: String, _ number: Int?) -> Bool {
    func set(_ look: Run.Look) {
      if number == 0 { groups.current.look.remove(look) } else { groups.current.look.insert(look) }
    }
    switch word {
    case "b": set(.bold)
    case "i": set(.italic)
    case "strike", "striked": set(.struck)
    case "super": set(.raised)
    case "sub": set(.lowered)
    case "nosupersub": groups.current.look.subtract([.raised, .lowered])
    case "v", "deleted": groups.current.isHidden = number != 0
    case "plain":
      groups.current.look = []
      groups.current.isHidden = false
    default: return false
    }
    return true
  }

  mutating func takeWord(_ word: String, _ number: Int?, into taker: any BlockTaker) throws(JobFailure) {
    switch word {
    case "par", "sect": try endParagraph(into: taker)
    case "line":
      if groups.current.place == .text || groups.current.place == .note { paragraph.runs.append(Run(.lineBreak)) }
    case "tab": add("\t")
    case "cell", "nestcell":
      try endParagraph(into: taker)
      cells.append(Cell(cell))
      cell = []
    case "row", "nestrow": try endRow(into: taker)
    case "intbl": paragraph.isInTable = true
    case "pard":
      paragraph.heading = 0
      paragraph.level = 0
      paragraph.isInTable = false
    case "s":
      if groups.current.place == .styles {
        style.number = number ?? -1
      } else {
        paragraph.heading = headings[number ?? -1] ?? 0
      }
    case "outlinelevel":
      if groups.current.place == .styles {
        headings[style.number] = (number ?? 8) + 1
      } else if let number, number < 9 {
        paragraph.heading = number + 1
      }
    case "ilvl": paragraph.level = min(max(0, number ?? 0), 8)
    default: break
    }
  }

  // MARK: Paragraphs

  mutating func endParagraph(into taker: any BlockTaker) throws(JobFailure) {
    var done = paragraph
    paragraph.runs = []
    paragraph.label = ""
    if done.runs.isBlank { return }
    let label = done.label.filter { !$0.isWhitespace }
    let block: TextBlock
    if done.heading > 0 {
      if !label.isEmpty { done.runs.insert(Run(.text(label + " ")), at: 0) }
      block = .heading(done.heading, done.runs)
    } else if !done.label.isEmpty {
      let isNumber = label.contains { $0.isLetter || $0.isNumber } && label != "o"
      block = .item(ListItem(level: done.level, label: isNumber ? label : nil, runs: done.runs))
    } else {
      block = .paragraph(done.runs)
    }
    if done.isInTable || !notes.isEmpty {
      cell.append(block)
    } else {
      try endTable(into: taker)
      try taker.add(block)
    }
  }

  mutating func endRow(into taker: any BlockTaker) throws(JobFailure) {
    if !cell.isEmpty { cells.append(Cell(cell)) }
    cell = []
    if cells.isEmpty { return }
    if !isInTable { try taker.add(.tableStart) }
    isInTable = true
    try taker.add(.row(cells))
    cells = []
  }

  mutating func endTable(into taker: any BlockTaker) throws(JobFailure) {
    if !cells.isEmpty || !cell.isEmpty { try endRow(into: taker) }
    if isInTable { try taker.add(.tableEnd) }
    isInTable = false
  }

  // MARK: Fields, styles and notes

  /// The target of the field whose instruction was read last.
  private var link: String? {
    guard order.contains("HYPERLINK") else { return nil }
    let words = order.split(separator: "\"", omittingEmptySubsequences: false)
    guard words.count > 1 else { return nil }
    return words[0].contains("\\l") ? "#\(words[1])" : String(words[1])
  }

  mutating func endStyle() {
    let name = style.name.lowercased()
    if headings[style.number] == nil {
      if name.hasPrefix("heading "), let level = Int(name.dropFirst(8).prefix(1)) { headings[style.number] = level }
      if name.hasPrefix("title;") { headings[style.number] = 1 }
    }
    style = (-1, "")
  }

  private mutating func startNote(isComment: Bool) {
    let mark: String
    if isComment {
      commentCount += 1
      mark = "c\(commentCount)"
    } else {
      noteCount += 1
      mark = String(noteCount)
    }
    paragraph.runs.append(Run(.note(mark)))
    notes.append((groups.depth, mark, paragraph, cell))
    paragraph = RichTextParagraph()
    if isComment, !author.isEmpty { paragraph.runs.add("\(author): ") }
    cell = []
    groups.current.place = .note
  }

  mutating func endNote(into taker: any BlockTaker) throws(JobFailure) {
    try endParagraph(into: taker)
    guard let note = notes.popLast() else { return }
    try taker.add(.note(note.mark, cell))
    paragraph = note.paragraph
    cell = note.cell
  }
}
