internal import Text
internal import WorkerKit

/// A reader of RTF documents. No input is an error. Omits words without a meaning, hidden and deleted text, headers,
/// footers and pictures.
struct RichText {
  var tokens: RichTextTokens
  var group = RichTextGroup()
  private var outer: [RichTextGroup] = []
  /// The number of open groups beyond those whose state is kept.
  private var excess = 0
  private var isOptional = false
  var charsets = RichTextCharsets()
  /// The bytes of text in the current font's code page that have not been decoded.
  private var bytes: [UInt8] = []
  private var passed = 0
  private var high: UInt16?
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

  private static let mostGroups = 1000

  init(_ input: JobInput) { tokens = RichTextTokens(input) }

  var depth: Int { outer.count + excess }

  mutating func read(into taker: any BlockTaker) throws(JobFailure) {
    while let token = tokens.next() {
      switch token {
      case .open:
        flushBytes()
        if outer.count < Self.mostGroups { outer.append(group) } else { excess += 1 }
        isOptional = false
      case .close:
        flushBytes()
        try close(into: taker)
      case .optional: isOptional = true
      case .word(let word, let number):
        if word != "u", word != "uc" { flushBytes() }
        try take(word, number, into: taker)
        isOptional = false
      case .byte(let byte):
        if passed > 0 { passed -= 1 } else { bytes.append(byte) }
      case .sign(let sign):
        flushBytes()
        if passed > 0 { passed -= 1 } else if sign != "\u{ad}" { add(String(Character(sign))) }
      }
      if bytes.count > 32 << 10 { flushBytes() }
    }
    flushBytes()
    try endParagraph(into: taker)
    try endTable(into: taker)
  }

  private mutating func close(into taker: any BlockTaker) throws(JobFailure) {
    passed = 0
    if excess > 0 {
      excess -= 1
      return
    }
    if group.place == .styles, style.number >= 0 { endStyle() }
    group = outer.popLast() ?? RichTextGroup()
    if let note = notes.last, note.depth > depth {
      try endNote(into: taker)
    }
  }

  private mutating func take(_ word: String, _ number: Int?, into taker: any BlockTaker) throws(JobFailure) {
    switch word {
    case "u":
      guard let number else { return }
      flushBytes()
      add(unit: UInt16(truncatingIfNeeded: number))
      passed = group.fallback
    case "uc": group.fallback = max(0, min(number ?? 1, 16))
    case "bin": tokens.skip(number ?? 0)
    default:
      passed = 0
      if try takeDestination(word, number, isOptional: isOptional) { return }
      if group.place == .nothing { return }
      if takeCharset(word, number) || takeLook(word, number) { return }
      try takeSign(word, number, into: taker)
    }
  }

  /// Adds text in UTF-16, of which a character can take two units.
  private mutating func add(unit: UInt16) {
    if UTF16.isLeadSurrogate(unit) {
      high = unit
      return
    }
    let units = UTF16.isTrailSurrogate(unit) ? [high ?? 0xfffd, unit] : [unit]
    high = nil
    // Symbol fonts are at U+F000.
    add(String(decoding: units, as: UTF16.self))
  }

  mutating func flushBytes() {
    if bytes.isEmpty { return }
    let text = charsets.text(bytes, font: group.font)
    bytes.removeAll(keepingCapacity: true)
    add(text)
  }

  mutating func add(_ text: String) {
    switch group.place {
    case .nothing: break
    case .fonts: break
    case .styles: if style.name.utf8.count < 256 { style.name += text }
    case .order: if order.utf8.count < 4096 { order += text }
    case .label: paragraph.label += text
    case .author: author += text
    case .text, .note:
      if !group.isHidden { paragraph.runs.add(text, group.look, link: group.link) }
    }
  }
}
