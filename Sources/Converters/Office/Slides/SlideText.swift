internal import WorkerKit

/// A reader of the text of a slide or its notes, in the order of its shapes.
final class SlideText {
  private let reader: MarkupReader
  private let links: [String: OfficePackage.Relationship]
  private let package: OfficePackage
  private let isNotes: Bool

  /// The role of a shape.
  private enum Place { case title, body, other, furniture }

  init(
    _ reader: MarkupReader, _ links: [String: OfficePackage.Relationship], _ package: OfficePackage, isNotes: Bool
  ) {
    self.reader = reader
    self.links = links
    self.package = package
    self.isNotes = isNotes
  }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      switch element.name {
      case "p:sp": try readShape(into: taker)
      case "a:tbl": try readTable(into: taker)
      case "dgm:relIds": try readDiagram(element, into: taker)
      case "a:blip": if !isNotes, let image = image(element, words: "") { try taker.add(.paragraph([image])) }
      case "mc:Fallback": try reader.skip()
      default: break
      }
    }
  }

  private func image(_ element: Element, words: String) -> Run? {
    guard let image = element["r:embed"].flatMap({ links[$0] }), !image.isOutside else { return nil }
    return Run(.image(path: image.target, words: words))
  }

  private func readShape(into taker: any BlockTaker) throws(JobFailure) {
    var place = Place.other
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "p:ph":
        place =
          switch element["type"] {
          case "title", "ctrTitle": .title
          case "dt", "sldNum", "ftr", "hdr", "sldImg": .furniture
          case "body", "obj", nil: .body
          default: .other
          }
      case "p:txBody": try readBody(place, into: taker)
      case "mc:Fallback": try reader.skip()
      default: break
      }
    }
  }

  private func readBody(_ place: Place, into taker: any BlockTaker) throws(JobFailure) {
    var counts: [Int] = []
    try reader.forEachElement { (element) throws(JobFailure) in
      guard element.name == "a:p" else { return }
      let paragraph = try readParagraph()
      if paragraph.runs.isBlank || place == .furniture { return }
      if place == .title, !isNotes { return try taker.add(.heading(2, paragraph.runs)) }
      let isItem = paragraph.bullet ?? (place == .body && !isNotes)
      guard isItem else {
        counts = []
        return try taker.add(.paragraph(paragraph.runs))
      }
      counts = Array(counts.prefix(paragraph.level + 1))
      var label: String?
      if let number = paragraph.number {
        while counts.count <= paragraph.level { counts.append(0) }
        counts[paragraph.level] = max(counts[paragraph.level] &+ 1, paragraph.start)
        label = number.text(counts[paragraph.level]) + paragraph.suffix
      }
      try taker.add(.item(ListItem(level: paragraph.level, label: label, runs: paragraph.runs)))
    }
  }

  private struct Paragraph {
    var runs: [Run] = []
    var level = 0
    /// Whether the paragraph is an item. `nil` if it does not specify that.
    var bullet: Bool?
    var number: ListNumber?
    var suffix = "."
    var start = 1

    /// Sets the numbering: `arabicPeriod`, `alphaLcParenR`.
    mutating func count(as kind: String) {
      bullet = true
      number =
        kind.hasPrefix("alphaLc")
        ? .lowerLetter
        : kind.hasPrefix("alphaUc")
          ? .upperLetter : kind.hasPrefix("romanLc") ? .lowerRoman : kind.hasPrefix("romanUc") ? .upperRoman : .decimal
      suffix = kind.hasSuffix("Plain") ? "" : kind.contains("Paren") ? ")" : "."
    }
  }

  private func readParagraph() throws(JobFailure) -> Paragraph {
    var paragraph = Paragraph()
    var look: Run.Look = []
    var link: String?
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "a:pPr": paragraph.level = min(max(0, element.number("lvl") ?? 0), 8)
      case "a:buNone": paragraph.bullet = false
      case "a:buChar", "a:buBlip": paragraph.bullet = true
      case "a:buAutoNum":
        paragraph.count(as: element["type"] ?? "")
        paragraph.start = element.number("startAt") ?? 1
      case "a:r", "a:fld", "m:oMath": (look, link) = ([], nil)
      case "a:rPr":
        if element["b"] != nil, !element.isOff("b") { look.insert(.bold) }
        if element["i"] != nil, !element.isOff("i") { look.insert(.italic) }
        if let strike = element["strike"], strike != "noStrike" { look.insert(.struck) }
        if let raised = element.number("baseline"), raised != 0 { look.insert(raised > 0 ? .raised : .lowered) }
      case "a:hlinkClick": link = element["r:id"].flatMap { links[$0] }.flatMap { $0.isOutside ? $0.target : nil }
      case "a:t", "m:t": paragraph.runs.add(try reader.text(), look, link: link)
      case "a:tab": paragraph.runs.add("\t", look, link: link)
      case "a:br": paragraph.runs.append(Run(.lineBreak))
      case "mc:Fallback", "a:endParaRPr": try reader.skip()
      default: break
      }
    }
    return paragraph
  }

  private func readTable(into taker: any BlockTaker) throws(JobFailure) {
    try taker.add(.tableStart)
    try reader.forEachElement { (row) throws(JobFailure) in
      guard row.name == "a:tr" else { return }
      var cells: [Cell] = []
      try reader.forEachElement { (element) throws(JobFailure) in
        guard element.name == "a:tc" else { return }
        let list = BlockList()
        try readBody(.other, into: list)
        if element["hMerge"] == nil {
          cells.append(Cell(list.blocks, columns: element.number("gridSpan") ?? 1))
        }
      }
      try taker.add(.row(cells))
    }
    try taker.add(.tableEnd)
  }

  /// Reads the text of a diagram, which is in a separate part.
  private func readDiagram(_ element: Element, into taker: any BlockTaker) throws(JobFailure) {
    guard let path = element["r:dm"].flatMap({ links[$0] })?.target, let data = try package.reader(path) else { return }
    let text = SlideText(data, [:], package, isNotes: isNotes)
    while let event = try data.next() {
      if case .start(let element) = event, element.name == "dgm:t" { try text.readBody(.other, into: taker) }
    }
  }
}
