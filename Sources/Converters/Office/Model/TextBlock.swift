/// A part of a document. Blocks are in reading order.
indirect enum TextBlock {
  /// A heading and its level, from 1, the largest.
  case heading(Int, [Run])
  case paragraph([Run])
  case item(ListItem)
  case preformatted(String)
  /// The start of a table, which follows row by row.
  case tableStart
  case row([Cell])
  case tableEnd
  case rule
  /// A footnote, an endnote or a comment, with its mark in the text.
  case note(String, [TextBlock])
}

/// A paragraph of a list.
struct ListItem {
  /// The nesting level, from 0.
  var level: Int
  /// The label as it is shown: `2.`, `a)`. `nil` for a bullet.
  var label: String?
  var runs: [Run]
}

/// A cell of a table.
struct Cell {
  var blocks: [TextBlock]
  /// The numbers of columns and rows that the cell spans.
  var columns = 1
  var rows = 1
  var isHead = false

  init(_ blocks: [TextBlock], columns: Int = 1, rows: Int = 1, isHead: Bool = false) {
    self.blocks = blocks
    // A span can claim any number.
    self.columns = min(max(1, columns), Self.mostColumns)
    self.rows = min(max(1, rows), 65_534)
    self.isHead = isHead
  }

  /// The maximum number of columns in HTML.
  static let mostColumns = 1000
}

extension [TextBlock] {
  /// The text alone, on one line.
  var words: String {
    var words: [String] = []
    for block in self {
      switch block {
      case .heading(_, let runs), .paragraph(let runs): words.append(runs.trimmed.words)
      case .item(let item): words.append((item.label.map { $0 + " " } ?? "") + item.runs.words)
      case .preformatted(let text): words.append(text)
      case .row(let cells): words.append(contentsOf: cells.map(\.blocks.words))
      case .note(_, let blocks): words.append(blocks.words)
      case .tableStart, .tableEnd, .rule: break
      }
    }
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }
}
