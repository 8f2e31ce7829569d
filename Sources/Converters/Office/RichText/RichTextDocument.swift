internal import RichText
internal import WorkerKit

/// A reader of RTF documents. No input is an error. Omits words without a meaning, hidden and deleted text, headers,
/// footers and pictures.
struct RichTextDocument {
  private var tokens = RichTextTokens()
  var groups = RichTextGroups(RichTextGroup())
  var paragraph = RichTextParagraph()
  /// The cells of the row that is being read.
  var cells: [Cell] = []
  var cell: [TextBlock] = []
  var isInTable = false
  var headings: [Int: Int] = [:]
  var style = (number: -1, name: "")
  var order = ""
  var author = ""
  /// The open notes: the number of groups open before each, and the content that was being read.
  var notes: [(depth: Int, mark: String, paragraph: RichTextParagraph, cell: [TextBlock])] = []
  var noteCount = 0
  var commentCount = 0

  /// The size of the pieces in which the input is read.
  private static let pieceSize = 64 << 10

  mutating func read(_ input: JobInput, into taker: any BlockTaker) throws(JobFailure) {
    var place = 0
    var piece: [UInt8] = []
    var isLast = false
    while !isLast {
      let more = input.read(Self.pieceSize, at: place)
      isLast = more.isEmpty
      place += more.count
      piece += more
      var index = 0
      while let token = tokens.next(piece.span, &index, isLast: isLast) { try take(token, into: taker) }
      piece.removeFirst(index)
    }
    try endParagraph(into: taker)
    try endTable(into: taker)
  }

  private mutating func take(_ token: RichTextTokens.Token, into taker: any BlockTaker) throws(JobFailure) {
    switch token {
    case .open: groups.open()
    case .close:
      if groups.current.place == .styles, style.number >= 0 { endStyle() }
      groups.close()
      if let note = notes.last, note.depth > groups.depth { try endNote(into: taker) }
    case .word(let word, let number, let isOptional):
      if takeDestination(word, isOptional: isOptional) || takeLook(word, number) { return }
      try takeWord(word, number, into: taker)
    case .text(let text): add(text)
    case .character(let scalar): if scalar != "\u{ad}" { add(String(scalar)) }
    }
  }

  mutating func add(_ text: String) {
    switch groups.current.place {
    case .nothing, .fonts: break
    case .styles: if style.name.utf8.count < 256 { style.name += text }
    case .order: if order.utf8.count < 4096 { order += text }
    case .label: paragraph.label += text
    case .author: author += text
    case .text, .note:
      if !groups.current.isHidden { paragraph.runs.add(text, groups.current.look, link: groups.current.link) }
    }
  }
}
