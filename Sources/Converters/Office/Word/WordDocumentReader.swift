internal import WorkerKit

/// A reader of the paragraphs and tables of one part of a Word document.
final class WordDocumentReader {
  let document: WordDocument
  let reader: MarkupReader
  let links: [String: OfficePackage.Relationship]
  /// The open fields: the instruction of each, and whether its result has begun.
  var fields: [(order: String, isShown: Bool)] = []
  /// The runs of a paragraph whose end was deleted.
  private var carried: [Run] = []
  var taker: any BlockTaker
  /// The description of the next image.
  var words = ""
  private var noteCounts: [String: Int] = [:]

  init(_ document: WordDocument, _ reader: MarkupReader, links: [String: OfficePackage.Relationship]) {
    self.document = document
    self.reader = reader
    self.links = links
    taker = BlockList()
  }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    while let event = try reader.next() {
      if case .start(let element) = event, element.name == "w:body" { try readBlocks(into: taker) }
    }
  }

  /// Reads the content of the element that has just started.
  func readBlocks(into taker: any BlockTaker) throws(JobFailure) {
    let outer = self.taker
    self.taker = taker
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:p": try reader.block { () throws(JobFailure) in try readParagraph() }
      case "w:tbl": try reader.block { () throws(JobFailure) in try readTable() }
      case "w:sdtPr", "w:sectPr", "w:del", "w:moveFrom", "w:tblPr", "mc:Fallback": try reader.skip()
      // A formula outside of paragraphs.
      case "m:t": try taker.add(.paragraph([Run(.text(reader.text()))]))
      default: break
      }
    }
    if !carried.isEmpty {
      try taker.add(.paragraph(carried))
      carried = []
    }
    self.taker = outer
  }

  private func readTable() throws(JobFailure) {
    try taker.add(.tableStart)
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:tr": try readRow()
      case "w:tblPr", "w:tblGrid", "w:sdtPr", "mc:Fallback": try reader.skip()
      default: break
      }
    }
    try taker.add(.tableEnd)
  }

  private func readRow() throws(JobFailure) {
    var cells: [Cell] = []
    var (isHead, isDeleted) = (false, false)
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:tblHeader": isHead = !element.isOff("w:val")
      case "w:del": isDeleted = true
      case "w:tc": cells.append(try readCell())
      case "w:sdtPr", "w:tblPrEx", "mc:Fallback": try reader.skip()
      default: break
      }
    }
    if isDeleted { return }
    for index in cells.indices { cells[index].isHead = isHead }
    try taker.add(.row(cells))
  }

  private func readCell() throws(JobFailure) -> Cell {
    var columns = 1
    var isFollowing = false
    let list = BlockList()
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:gridSpan": columns = element.number("w:val") ?? 1
      case "w:vMerge": isFollowing = element["w:val"] != "restart"
      case "w:p", "w:tbl":
        let outer = taker
        taker = list
        try reader.block { () throws(JobFailure) in
          if element.name == "w:p" { try readParagraph() } else { try readTable() }
        }
        taker = outer
      case "w:sdtPr", "mc:Fallback": try reader.skip()
      default: break
      }
    }
    return Cell(isFollowing ? [] : list.blocks, columns: columns)
  }

  /// Reads a paragraph, and then the content of text boxes beside it.
  private func readParagraph() throws(JobFailure) {
    var paragraph = WordParagraph()
    paragraph.runs = carried
    carried = []
    let beside = BlockList()
    try readRuns(&paragraph, beside: beside)
    if paragraph.isJoined { carried = paragraph.runs } else { try add(paragraph) }
    for block in beside.blocks { try taker.add(block) }
  }

  private func add(_ paragraph: WordParagraph) throws(JobFailure) {
    var place = paragraph.list ?? document.styles.list(paragraph.style)
    // A level without a list is a level of the style's list.
    if place?.list.isEmpty == true, let list = document.styles.list(paragraph.style)?.list { place?.list = list }
    // The list 0 means that there is none.
    let number = place.flatMap { $0.list == "0" ? nil : document.lists.count($0) }
    // An empty paragraph shows its number, but not its bullet.
    if paragraph.runs.isBlank, number?.label?.isEmpty ?? true { return }
    let heading = paragraph.outline.map { $0 < 9 ? $0 + 1 : 0 } ?? document.styles.headingLevel(paragraph.style) ?? 0
    if heading > 0 {
      var runs = paragraph.runs
      if let label = number?.label, !label.isEmpty { runs.insert(Run(.text(label + " ")), at: 0) }
      try taker.add(.heading(heading, runs))
    } else if let number {
      try taker.add(.item(ListItem(level: number.level, label: number.label, runs: paragraph.runs)))
    } else {
      try taker.add(.paragraph(paragraph.runs))
    }
  }

  /// Adds the mark of a note. The note itself follows the text.
  func note(_ kind: String, _ id: String?, _ runs: inout [Run]) throws(JobFailure) {
    guard let id, let blocks = document.takeNote(kind, id) else { return }
    let number = noteCounts[kind, default: 0] + 1
    noteCounts[kind] = number
    let mark =
      switch kind {
      case "endnotes": ListNumber.lowerRoman.text(number)
      case "comments": "c\(number)"
      default: String(number)
      }
    runs.append(Run(.note(mark)))
    try taker.add(.note(mark, blocks))
  }
}
