internal import WorkerKit

/// A reader of the text of web pages and of chapters of books. It omits content that browsers do not show.
final class WebText {
  private let reader: MarkupReader
  /// Maps the page's links to images to paths in the document's archive. Returns `nil` for other links.
  private let image: (String) -> String?
  private let isNote: Bool
  private var taker: any BlockTaker
  private var runs: [Run] = []
  private var state = State()
  private var lists: [List] = []
  /// Whether the last character is a space, or none precedes.
  private var isSpaced = true

  /// The state that an element inherits and its end restores.
  private struct State {
    var look: Run.Look = []
    var link: String?
    var heading = 0
    var isPreformatted = false
  }

  private struct List {
    /// The next number. `nil` for bullets.
    var next: Int?
    /// Whether the label of the open item has not been written.
    var isNew = false
  }

  /// - Parameter isNote: whether the page was made from Markdown. Images then become links to their files, and links
  ///   within the page become text.
  init(
    _ reader: MarkupReader, into taker: any BlockTaker, isNote: Bool = false, image: @escaping (String) -> String?
  ) {
    self.reader = reader
    self.isNote = isNote
    self.image = image
    self.taker = taker
  }

  func read() throws(JobFailure) {
    try readFlow(toEnd: true)
    try endParagraph()
  }

  /// Reads the content of the element that has just started, or all that follows if `toEnd`.
  private func readFlow(toEnd: Bool) throws(JobFailure) {
    var outer: [State] = []
    while let event = try reader.next() {
      switch event {
      case .text(let text): add(text)
      case .end(let name):
        guard let before = outer.popLast() else {
          if toEnd { continue }
          return
        }
        if Self.blocks.contains(name) { try endParagraph() }
        if name == "ul" || name == "ol" { _ = lists.popLast() }
        state = before
      case .start(let element):
        if Self.unseen.contains(element.name) || element["hidden"] != nil || element["class"] == "footnote-backref" {
          try reader.skip()
        } else if element.name == "table" {
          try endParagraph()
          try reader.block { () throws(JobFailure) in try readTable() }
        } else {
          outer.append(state)
          try start(element)
        }
      }
    }
  }

  private func start(_ element: Element) throws(JobFailure) {
    let name = element.name
    if Self.blocks.contains(name) { try endParagraph() }
    switch name {
    case "h1", "h2", "h3", "h4", "h5", "h6": state.heading = Int(name.dropFirst()) ?? 1
    case "b", "strong": state.look.insert(.bold)
    case "i", "em", "cite", "dfn", "var": state.look.insert(.italic)
    case "s", "strike", "del": state.look.insert(.struck)
    case "sup": state.look.insert(.raised)
    case "sub": state.look.insert(.lowered)
    case "code", "kbd", "samp", "tt": if !state.isPreformatted { state.look.insert(.code) }
    case "pre", "listing", "xmp": state.isPreformatted = true
    case "a": state.link = element["href"].map { isNote && $0.hasPrefix("#") ? nil : $0 } ?? state.link
    case "br":
      if state.isPreformatted { runs.add("\n") } else { runs.append(Run(.lineBreak)) }
      isSpaced = true
    case "hr": try taker.add(.rule)
    case "ul", "menu", "dir": lists.append(List(next: nil))
    case "ol": lists.append(List(next: element.number("start") ?? 1))
    case "li":
      if lists.isEmpty { lists.append(List(next: nil)) }
      lists[lists.count - 1].isNew = true
      if let value = element.number("value"), lists[lists.count - 1].next != nil { lists[lists.count - 1].next = value }
    case "img", "image":
      let path = (element["src"] ?? element["xlink:href"]).flatMap(image) ?? ""
      let words = element["alt"] ?? ""
      if isNote {
        let look = state.link == nil && !path.isEmpty ? state.look.union(.picture) : state.look
        runs.add(words.isEmpty ? path : words, look, link: state.link ?? (path.isEmpty ? nil : path))
        isSpaced = false
      } else if !path.isEmpty || !words.isEmpty {
        runs.append(Run(.image(path: path, words: words), link: state.link))
        isSpaced = false
      }
    case "input" where element["type"] == "checkbox": add(element["checked"] == nil ? "☐ " : "☑ ")
    default: break
    }
  }

  private func add(_ text: String) {
    if state.isPreformatted { return runs.add(text, state.look, link: state.link) }
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      let isSpace = byte == 0x20 || (0x09...0x0d).contains(byte)
      if !isSpace { result.append(byte) } else if !isSpaced { result.append(0x20) }
      isSpaced = isSpace
    }
    runs.add(String(decoding: result, as: UTF8.self), state.look, link: state.link)
  }

  private func endParagraph() throws(JobFailure) {
    let done = runs
    runs = []
    isSpaced = true
    if done.isBlank { return }
    if state.isPreformatted {
      let text = done.reduce(into: "") { text, run in if case .text(let words) = run.content { text += words } }
      return try taker.add(.preformatted(String(text.drop { $0.isNewline })))
    }
    if state.heading > 0 { return try taker.add(.heading(state.heading, done)) }
    guard let list = lists.last else { return try taker.add(.paragraph(done)) }
    var label: String? = ""
    if list.isNew {
      lists[lists.count - 1].isNew = false
      label = list.next.map { "\($0)." }
      lists[lists.count - 1].next = list.next.map { $0 &+ 1 }
    }
    try taker.add(.item(ListItem(level: lists.count - 1, label: label, runs: done)))
  }

  private func readTable() throws(JobFailure) {
    try taker.add(.tableStart)
    var cells: [Cell] = []
    var isOpen = true
    var depth = 1
    while isOpen, let event = try reader.next() {
      switch event {
      case .text: break
      case .end(let name):
        depth -= 1
        isOpen = depth > 0
        if name == "tr" || !isOpen, !cells.isEmpty {
          try taker.add(.row(cells))
          cells = []
        }
      case .start(let element):
        switch element.name {
        case "td", "th": cells.append(try readCell(element))
        case "script", "style": try reader.skip()
        case "caption":
          let words = try reader.text().split(whereSeparator: \.isWhitespace).joined(separator: " ")
          try taker.add(.row([Cell([.paragraph([Run(.text(words))])])]))
        default: depth += 1
        }
      }
    }
    try taker.add(.tableEnd)
  }

  private func readCell(_ element: Element) throws(JobFailure) -> Cell {
    let list = BlockList()
    let before = (taker, state, lists)
    (taker, state, lists) = (list, State(), [])
    try readFlow(toEnd: false)
    try endParagraph()
    (taker, state, lists) = before
    return Cell(
      list.blocks, columns: element.number("colspan") ?? 1, rows: element.number("rowspan") ?? 1,
      isHead: element.name == "th")
  }

  private static let unseen: Set = [
    "script", "style", "title", "template", "noframes", "object", "applet", "audio", "video", "svg", "annotation",
    "textarea",
    "iframe", "rp", "rt",
  ]
  private static let blocks: Set = [
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
    "legend", "li", "listing", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary", "ul", "xmp",
    "tr", "td", "th", "caption",
  ]
}
