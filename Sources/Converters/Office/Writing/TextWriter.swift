internal import WorkerKit

/// A writer of a document as plain text. Each paragraph is a line, with an empty line between paragraphs. Each row of a
/// table is a line, with a tab between cells. Notes follow the text.
final class TextWriter: DocumentWriter {
  private let output: DocumentTextOutput
  private var notes: [(mark: String, blocks: [TextBlock])] = []
  /// The kind of the last block, if blocks of that kind have no empty lines between them.
  private var group = Group.none

  private enum Group { case none, list, table }

  init(_ output: DocumentTextOutput) { self.output = output }

  func add(_ block: TextBlock) throws(JobFailure) {
    switch block {
    case .heading(_, let runs), .paragraph(let runs): try write(lines(runs), in: .none)
    case .item(let item):
      let indent = String(repeating: "  ", count: min(item.level, 20))
      let label = item.label ?? "•"
      try write(indent + label + (label.isEmpty ? "" : " ") + lines(item.runs), in: .list)
    case .preformatted(let text): try write(text, in: .none)
    case .tableStart, .rule: group = .none
    case .row(let cells):
      let texts = cells.flatMap { [$0.blocks.words.inOneLine] + Array(repeating: "", count: $0.columns - 1) }
      let used = texts.lastIndex { !$0.isEmpty }.map { texts[...$0] } ?? []
      try write(used.joined(separator: "\t"), in: .table)
    case .tableEnd: group = .none
    case .note(let mark, let blocks): notes.append((mark, blocks))
    }
  }

  private func write(_ text: String, in group: Group) throws(JobFailure) {
    if text.isEmpty, group != .table { return }
    if !output.isEmpty, group == .none || group != self.group { try output.write("\n") }
    try output.write(text)
    try output.write("\n")
    self.group = group
  }

  private func lines(_ runs: [Run]) -> String {
    runs.trimmed.reduce(into: "") { text, run in
      switch run.content {
      case .text(let words): text += words
      case .lineBreak: text += "\n"
      case .image(_, let words): text += words.isEmpty ? "" : "[\(words)]"
      case .note(let mark): text += "[\(mark)]"
      }
    }
  }

  func finish() throws(JobFailure) {
    for note in notes {
      try write("[\(note.mark)] \(note.blocks.words.inOneLine)", in: .list)
    }
    try output.flush()
  }
}

extension String {
  /// The text with spaces instead of tabs and line ends.
  var inOneLine: String {
    utf8.contains { $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
      ? String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) : self
  }
}
