internal import WorkerKit

/// A writer of a document as Markdown (CommonMark with GitHub's tables and notes). Images are named as in the
/// document's archive.
final class MarkdownWriter: DocumentWriter {
  private let output: DocumentTextOutput
  private var notes: [(mark: String, blocks: [TextBlock])] = []
  private var isInList = false
  /// The width of the current table, in columns. `nil` before its first row.
  private var width: Int?

  init(_ output: DocumentTextOutput) { self.output = output }

  func add(_ block: TextBlock) throws(JobFailure) {
    switch block {
    case .heading(let level, let runs):
      try start(String(repeating: "#", count: min(6, max(1, level))) + " " + text(runs).inOneLine)
    case .paragraph(let runs): try start(guarded(text(runs)))
    case .item(let item): try write(item)
    case .preformatted(let text): try start("```\n\(text.replacing("```", with: "'''"))\n```")
    case .tableStart: width = nil
    case .row(let cells): try write(cells)
    case .tableEnd: width = nil
    case .rule: try start("---")
    case .note(let mark, let blocks): notes.append((mark, blocks))
    }
  }

  private func start(_ text: String) throws(JobFailure) {
    if text.isEmpty { return }
    if !output.isEmpty { try output.write("\n") }
    try output.write(text + "\n")
    isInList = false
  }

  private func write(_ item: ListItem) throws(JobFailure) {
    if !isInList, !output.isEmpty { try output.write("\n") }
    isInList = true
    let indent = String(repeating: "    ", count: min(item.level, 20))
    let label = item.label ?? ""
    let digits = label.utf8.prefix { (0x30...0x39).contains($0) }.count
    let isNumber =
      (1...9).contains(digits) && label.utf8.count == digits + 1 && (label.hasSuffix(".") || label.hasSuffix(")"))
    let mark = isNumber ? label : label.isEmpty ? "-" : "- \(Self.escaped(label))"
    try output.write("\(indent)\(mark) \(text(item.runs).replacing("\n", with: "\n\(indent)  "))\n")
  }

  private func write(_ cells: [Cell]) throws(JobFailure) {
    var texts = cells.flatMap { cell in
      [cell.blocks.count == 1 ? only(cell.blocks[0]) : Self.escaped(cell.blocks.words)]
        + Array(repeating: "", count: cell.columns - 1)
    }.map { $0.inOneLine.replacing("|", with: "\\|") }
    if let width {
      texts += Array(repeating: "", count: max(0, width - texts.count))
      return try output.write("| \(texts.joined(separator: " | ")) |\n")
    }
    width = texts.count
    try start("| \(texts.joined(separator: " | ")) |\n|\(String(repeating: " --- |", count: max(1, texts.count)))")
  }

  private func only(_ block: TextBlock) -> String {
    if case .paragraph(let runs) = block {
      text(runs).replacing("  \n", with: "<br>")
    } else {
      Self.escaped([block].words)
    }
  }

  private func text(_ runs: [Run]) -> String {
    runs.trimmed.reduce(into: "") { text, run in
      switch run.content {
      case .text(let words): text += Self.marked(words, run)
      case .lineBreak: text += "  \n"
      case .image(let path, let words):
        let words = Self.escaped(words.inOneLine)
        text += path.isEmpty ? words : "![\(words)](\(Self.place(path)))"
      case .note(let mark): text += "[^\(mark)]"
      }
    }
  }

  /// Returns text with the marks of its formatting. White space stays outside of the marks.
  private static func marked(_ words: String, _ run: Run) -> String {
    let body = words.drop(while: \.isWhitespace)
    let end = body.lastIndex { !$0.isWhitespace }.map(body.index(after:)) ?? body.startIndex
    if body[..<end].isEmpty { return words }
    var text = run.look.contains(.code) ? "`\(body[..<end])`" : escaped(String(body[..<end]))
    if run.look.contains(.struck) { text = "~~\(text)~~" }
    if run.look.contains(.italic) { text = "*\(text)*" }
    if run.look.contains(.bold) { text = "**\(text)**" }
    if let link = run.link, link.isHarmlessLink { text = "[\(text)](\(place(link)))" }
    return words[..<body.startIndex] + text + body[end...]
  }

  private static func place(_ link: String) -> String {
    link.utf8.contains { $0 <= 0x20 || $0 == 0x28 || $0 == 0x29 || $0 == 0x3c || $0 == 0x3e }
      ? "<\(String(link.filter { $0 != "<" && $0 != ">" && !$0.isNewline }))>" : link
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { special.contains($0) }) else { return text }
    return String(
      decoding: text.utf8.flatMap { special.contains($0) ? [0x5c, $0] : [$0] }, as: UTF8.self)
  }

  private static let special = Set("\\`*_[]<>".utf8)

  /// Escapes text that would be a heading, a list or a quotation at a line's start.
  private func guarded(_ text: String) -> String {
    guard let first = text.utf8.first, Set("#+-=~".utf8).contains(first) || (0x30...0x39).contains(first) else {
      return text
    }
    if !(0x30...0x39).contains(first) { return "\\" + text }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let rest = text[digits.endIndex...]
    return rest.hasPrefix(".") || rest.hasPrefix(")") ? digits + "\\" + rest : text
  }

  func finish() throws(JobFailure) {
    for note in notes { try start("[^\(note.mark)]: \(Self.escaped(note.blocks.words))") }
    try output.flush()
  }
}
