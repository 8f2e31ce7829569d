internal import Text
internal import WorkerKit

/// A writer of a document as a self-contained web page. Nothing in it runs, and nothing is loaded from elsewhere.
/// Images that browsers show are embedded.
final class HTMLWriter: DocumentWriter {
  private let output: DocumentTextOutput
  private let image: (String) -> [UInt8]?
  private var notes: [(mark: String, blocks: [TextBlock])] = []
  /// The open lists, outermost first.
  private var lists: [List] = []
  /// The number of bytes of images that can still be embedded.
  private var room = 64 << 20

  /// The elements of lists. LibreOffice, which lays these pages out, shows the marks of list items whatever a style
  /// says. Items with other labels are therefore in lists without marks.
  private enum List: String {
    case marked = "ul"
    case numbered = "ol"
    case labelled = "dl"
  }

  private static let style = """
    body{font-family:sans-serif;line-height:1.4;max-width:50em;margin:2em auto;padding:0 1em}\
    table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .5em;vertical-align:top}\
    img{max-width:100%}
    """

  init(_ output: DocumentTextOutput, title: String, image: @escaping (String) -> [UInt8]?) throws(JobFailure) {
    self.output = output
    self.image = image
    try output.write(
      "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>\(title.escapedForHTML)</title>\n"
        + "<style>\(Self.style)</style>\n</head>\n<body>\n")
  }

  func add(_ block: TextBlock) throws(JobFailure) {
    if case .item(let item) = block { return try write(item) }
    if case .note(let mark, let blocks) = block {
      notes.append((mark, blocks))
      return
    }
    try closeLists(to: 0)
    try write(block)
  }

  private func write(_ block: TextBlock) throws(JobFailure) {
    switch block {
    case .heading(let level, let runs):
      let tag = "h\(min(6, max(1, level)))"
      try output.write("<\(tag)>\(text(runs))</\(tag)>\n")
    case .paragraph(let runs): try output.write("<p>\(text(runs))</p>\n")
    case .item(let item): try output.write("<p>\(labelled(item))</p>\n")
    case .preformatted(let text): try output.write("<pre>\(text.escapedForHTML)</pre>\n")
    case .tableStart: try output.write("<table>\n")
    case .row(let cells): try write(cells)
    case .tableEnd: try output.write("</table>\n")
    case .rule: try output.write("<hr>\n")
    case .note(let mark, let blocks): notes.append((mark, blocks))
    }
  }

  private func write(_ item: ListItem) throws(JobFailure) {
    let depth = min(item.level, 20) + 1
    let number = item.label.flatMap { $0.hasSuffix(".") ? Int($0.dropLast()) : nil }
    let list: List = item.label == nil ? .marked : number == nil ? .labelled : .numbered
    try closeLists(to: lists.count >= depth && lists[depth - 1] != list ? depth - 1 : depth)
    while lists.count < depth {
      try output.write("<\(list.rawValue)>\n")
      lists.append(list)
    }
    switch list {
    case .marked: try output.write("<li>\(text(item.runs))</li>\n")
    case .numbered: try output.write("<li value=\"\(number ?? 0)\">\(text(item.runs))</li>\n")
    case .labelled: try output.write("<dd>\(labelled(item))</dd>\n")
    }
  }

  private func closeLists(to depth: Int) throws(JobFailure) {
    while lists.count > depth, let list = lists.popLast() { try output.write("</\(list.rawValue)>\n") }
  }

  private func labelled(_ item: ListItem) -> String {
    let label = item.label ?? "•"
    return label.isEmpty ? text(item.runs) : "\(label.escapedForHTML) \(text(item.runs))"
  }

  private func write(_ cells: [Cell]) throws(JobFailure) {
    try output.write("<tr>")
    for cell in cells {
      let tag = cell.isHead ? "th" : "td"
      let columns = cell.columns > 1 ? " colspan=\"\(cell.columns)\"" : ""
      let rows = cell.rows > 1 ? " rowspan=\"\(cell.rows)\"" : ""
      try output.write("<\(tag)\(columns)\(rows)>")
      if cell.blocks.count == 1, case .paragraph(let runs) = cell.blocks[0] {
        try output.write(text(runs))
      } else {
        for block in cell.blocks { try write(block) }
      }
      try output.write("</\(tag)>")
    }
    try output.write("</tr>\n")
  }

  private func text(_ runs: [Run]) -> String { runs.trimmed.reduce(into: "") { $0 += text($1) } }

  private func text(_ run: Run) -> String {
    var text =
      switch run.content {
      case .text(let words): words.escapedForHTML
      case .lineBreak: "<br>"
      case .image(let path, let words): picture(path, words)
      case .note(let mark): "<sup><a href=\"#note-\(mark.escapedForHTML)\">\(mark.escapedForHTML)</a></sup>"
      }
    for (look, tag) in Self.tags where run.look.contains(look) { text = "<\(tag)>\(text)</\(tag)>" }
    if let link = run.link, link.isHarmlessLink {
      let mark = run.look.contains(.picture) ? " class=\"picture\"" : ""
      text = "<a\(mark) href=\"\(link.escapedForHTML)\">\(text)</a>"
    }
    return text
  }

  private static let tags: [(Run.Look, String)] = [
    (.code, "code"), (.raised, "sup"), (.lowered, "sub"), (.struck, "s"), (.italic, "i"), (.bold, "b"),
  ]

  private func picture(_ path: String, _ words: String) -> String {
    let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard let type = Self.types[ending], let bytes = image(path), bytes.count <= room else {
      return words.escapedForHTML
    }
    room -= bytes.count
    return "<img src=\"data:\(type);base64,\(Base64.text(bytes))\" alt=\"\(words.escapedForHTML)\">"
  }

  private static let types = [
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "bmp": "image/bmp", "svg": "image/svg+xml",
  ]

  func finish() throws(JobFailure) {
    try closeLists(to: 0)
    if !notes.isEmpty { try output.write("<hr>\n") }
    for note in notes {
      let mark = note.mark.escapedForHTML
      try output.write("<div id=\"note-\(mark)\"><sup>\(mark)</sup>\n")
      for block in note.blocks { try write(block) }
      try output.write("</div>\n")
    }
    try output.write("</body>\n</html>\n")
    try output.flush()
  }
}
