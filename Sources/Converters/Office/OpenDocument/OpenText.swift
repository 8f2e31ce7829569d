internal import WorkerKit

/// A reader of paragraphs, lists and tables of an OpenDocument file.
final class OpenText {
  let reader: MarkupReader
  var styles: OpenStyles
  var taker: any BlockTaker
  /// The open lists, outermost first, and the last numbers on each level.
  private var open: [String] = []
  private var counts: [Int] = []
  /// The lists that later ones can continue, by their names and by their styles.
  private var named: [String: Numbering] = [:]
  private var latest: [String: Numbering] = [:]
  private var outline: [Int] = []
  private var noteCount = 0
  private var commentCount = 0
  /// The maximum number of repetitions of a cell in a table of a text.
  private static let mostCells = 100
  /// The maximum number of lists with names.
  private static let mostNames = 100_000

  /// The last numbers on each level of a list, and of those that continue it.
  private final class Numbering { var counts: [Int] = [] }

  init(_ reader: MarkupReader, _ styles: OpenStyles) {
    self.reader = reader
    self.styles = styles
    taker = BlockList()
  }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      if element.name == "office:body" { try readBlocks(into: taker) } else { _ = try styles.take(element, reader) }
    }
  }

  /// Reads the content of the element that has just started.
  func readBlocks(into taker: any BlockTaker) throws(JobFailure) {
    let outer = self.taker
    self.taker = taker
    try reader.forEachElement { (element) throws(JobFailure) in try readBlock(element) }
    self.taker = outer
  }

  /// Reads a block. The content of elements of other kinds is read next.
  func readBlock(_ element: Element) throws(JobFailure) {
    switch element.name {
    case "text:p", "text:h": try reader.block { () throws(JobFailure) in try readParagraph(element, label: nil) }
    case "text:list": try reader.block { () throws(JobFailure) in try readList(element) }
    case "table:table": try reader.block { () throws(JobFailure) in try readTable() }
    case "draw:page": try reader.block { () throws(JobFailure) in try readPage() }
    case "office:annotation": try reader.block { () throws(JobFailure) in try readComment() }
    case "draw:image": try readImage(element)
    case "text:tracked-changes", "text:sequence-decls", "office:forms", "text:table-of-content-source",
      "text:alphabetical-index-source", "text:illustration-index-source", "text:table-index-source",
      "text:bibliography-source", "text:user-index-source", "text:object-index-source", "svg:title", "svg:desc",
      "text:variable-decls", "text:user-field-decls", "text:dde-connection-decls", "presentation:footer-decl",
      "presentation:date-time-decl", "office:scripts", "office:event-listeners", "draw:object":
      try reader.skip()
    default: break
    }
  }

  private func readImage(_ element: Element) throws(JobFailure) {
    guard let path = element["xlink:href"], !path.contains(":") else { return }
    try taker.add(.paragraph([Run(.image(path: path.hasPrefix("./") ? String(path.dropFirst(2)) : path, words: ""))]))
  }

  /// Reads a paragraph. `label` is the list item that it starts.
  func readParagraph(_ element: Element, label: ListItem?) throws(JobFailure) {
    if let style = element["text:style-name"], styles.hidden.contains(style) { return try reader.skip() }
    let beside = BlockList()
    var runs = try readRuns(beside)
    if !runs.isBlank {
      if element.name == "text:h" {
        let level = min(max(1, element.number("text:outline-level") ?? 1), OpenStyles.levelCount)
        let isCounted = element["text:is-list-header"] != "true"
        if let label = isCounted ? label?.label ?? headingLabel(level) : nil, !label.isEmpty {
          runs.insert(Run(.text(label + " ")), at: 0)
        }
        try taker.add(.heading(level, runs))
      } else if var item = label {
        item.runs = runs
        try taker.add(.item(item))
      } else {
        try taker.add(.paragraph(runs))
      }
    }
    for block in beside.blocks { try taker.add(block) }
  }

  private func headingLabel(_ level: Int) -> String? {
    guard styles.lists[OpenStyles.outline] != nil else { return nil }
    outline = Array(outline.prefix(level))
    while outline.count < level {
      let start = styles.start(OpenStyles.outline, level: outline.count)
      outline.append(outline.count + 1 == level ? start - 1 : start)
    }
    outline[level - 1] += 1
    return styles.label(OpenStyles.outline, level: level - 1, outline)
  }

  private func readList(_ element: Element) throws(JobFailure) {
    let level = open.count
    let style = element["text:style-name"] ?? open.last ?? ""
    let numbering = level == 0 ? numbering(of: element, style) : nil
    open.append(style)
    try reader.forEachElement { (item) throws(JobFailure) in
      switch item.name {
      case "text:list-item": try readItem(item, level: level, isCounted: true)
      case "text:list-header": try readItem(item, level: level, isCounted: false)
      default: break
      }
    }
    open.removeLast()
    numbering?.counts = counts
  }

  /// Returns the numbering of an outermost list. It continues the list that it names, or the last of its style (19.780,
  /// 19.779).
  private func numbering(of list: Element, _ style: String) -> Numbering {
    var continued: Numbering?
    if let name = list["text:continue-list"] { continued = named[name] }
    if continued == nil, list["text:continue-numbering"] == "true" { continued = latest[style] }
    let numbering = continued ?? Numbering()
    counts = numbering.counts
    latest[style] = numbering
    if let name = list["xml:id"], named.count < Self.mostNames { named[name] = numbering }
    return numbering
  }

  private func readItem(_ item: Element, level: Int, isCounted: Bool) throws(JobFailure) {
    /// Only an item's first paragraph has its label.
    var isFirst = isCounted
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "text:p", "text:h":
        let list =
          styles.lists[open[level]] != nil
          ? open[level] : element["text:style-name"].flatMap { styles.listNames[$0] } ?? open[level]
        var label: String? = ""
        if isFirst {
          count(level, list, item.number("text:start-value"))
          label = styles.label(list, level: level, counts)
        }
        isFirst = false
        try readParagraph(element, label: ListItem(level: level, label: label, runs: []))
      default: try readBlock(element)
      }
    }
  }

  private func count(_ level: Int, _ list: String, _ start: Int?) {
    if counts.count > level + 1 { counts.removeLast(counts.count - level - 1) }
    while counts.count <= level {
      let first = styles.start(list, level: counts.count)
      counts.append(counts.count == level ? first - 1 : first)
    }
    counts[level] = start ?? counts[level] &+ 1
  }

  /// Reads content whose lists are independent of the open ones.
  private func apart(_ read: () throws(JobFailure) -> Void) throws(JobFailure) {
    let outer = (open, counts, latest)
    (open, counts) = ([], [])
    try read()
    (open, counts, latest) = outer
  }

  private func readTable() throws(JobFailure) {
    try taker.add(.tableStart)
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "table:table-header-rows":
        try reader.forEachElement { (row) throws(JobFailure) in
          if row.name == "table:table-row" { try readRow(isHead: true) }
        }
      case "table:table-row": try readRow(isHead: false)
      case "table:shapes", "office:forms", "table:table-columns": try reader.skip()
      default: break
      }
    }
    try taker.add(.tableEnd)
  }

  private func readRow(isHead: Bool) throws(JobFailure) {
    var cells: [Cell] = []
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "table:table-cell":
        let list = BlockList()
        try apart { () throws(JobFailure) in try readBlocks(into: list) }
        let cell = Cell(
          list.blocks, columns: element.number("table:number-columns-spanned") ?? 1,
          rows: element.number("table:number-rows-spanned") ?? 1, isHead: isHead)
        let times = element.number("table:number-columns-repeated") ?? 1
        for _ in 0..<min(max(1, times), Self.mostCells) { cells.append(cell) }
      case "table:covered-table-cell": try reader.skip()
      default: break
      }
    }
    try taker.add(.row(cells))
  }

  /// Reads a slide and its speaker notes.
  private func readPage() throws(JobFailure) {
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "draw:frame":
        let kind = element["presentation:class"]
        guard kind == "title" else { return }
        let list = BlockList()
        try readBlocks(into: list)
        let words = list.blocks.words
        if !words.isEmpty { try taker.add(.heading(2, [Run(.text(words))])) }
      case "presentation:notes":
        let list = BlockList()
        try readBlocks(into: list)
        for block in list.blocks { try taker.add(block) }
      default: try readBlock(element)
      }
    }
  }

  // MARK: Notes

  /// Reads a footnote or an endnote.
  func readNote() throws(JobFailure) -> Run {
    var mark = ""
    let list = BlockList()
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "text:note-citation": mark = try reader.text()
      case "text:note-body":
        try apart { () throws(JobFailure) in try readBlocks(into: list) }
      default: break
      }
    }
    if mark.isEmpty {
      noteCount += 1
      mark = String(noteCount)
    }
    try taker.add(.note(mark, list.blocks))
    return Run(.note(mark))
  }

  @discardableResult func readComment() throws(JobFailure) -> Run {
    commentCount += 1
    let mark = "c\(commentCount)"
    let list = BlockList()
    try apart { () throws(JobFailure) in
      try reader.forEachElement { (element) throws(JobFailure) in
        switch element.name {
        case "dc:creator": list.add(.paragraph([Run(.text("\(try reader.text()):"))]))
        case "dc:date", "?:creator-initials", "?:sender-initials": try reader.skip()
        default:
          let outer = taker
          taker = list
          try readBlock(element)
          taker = outer
        }
      }
    }
    try taker.add(.note(mark, list.blocks))
    return Run(.note(mark))
  }
}
