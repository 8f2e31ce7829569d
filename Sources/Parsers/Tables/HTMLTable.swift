internal import Text

/// A table writer for self-contained HTML pages without scripts.
///
/// The first row stays visible while the others scroll.
struct HTMLTable: CellSink, TableMaking {
  private let shape: TableShape
  private let title: String
  private var isFirstRow = true
  private var column = 0
  private var isCellOpen = false

  /// The maximum `colspan` that browsers accept.
  private static let widestSpan = 1000

  init(_ shape: TableShape, title: String) {
    self.shape = shape
    self.title = title
  }

  mutating func begin(_ output: inout TextOutput) {
    output.append(literal: Self.head)
    Self.escape(Array(title.utf8).span, into: &output)
    output.append(literal: Self.style)
  }

  private static let head: StaticString = """
    <!DOCTYPE html>
    <html>
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width">
    <title>
    """

  private static let style: StaticString = """
    </title>
    <style>
    html { color-scheme: light dark; }
    body { margin: 0; font: 14px/1.4 system-ui, sans-serif; background: Canvas; color: CanvasText; }
    table { border-collapse: separate; border-spacing: 0; width: max-content; min-width: 100%; }
    th, td {
      padding: 4px 12px; border-bottom: 1px solid #8884; text-align: start; vertical-align: top;
      max-width: 40em; white-space: pre-wrap; overflow-wrap: break-word; unicode-bidi: plaintext;
    }
    th { position: sticky; top: 0; background: Canvas; border-bottom: 2px solid #888; font-weight: 600; }
    tr:nth-child(even) > td { background: #8881; }
    .n { text-align: right; white-space: pre; font-variant-numeric: tabular-nums; }
    </style>
    </head>
    <body>
    <table>

    """

  private mutating func openCell(_ output: inout TextOutput) {
    isCellOpen = true
    if column == 0 { output.append(literal: isFirstRow ? "<thead>\n<tr>" : "<tr>") }
    let isNumeric = column < shape.columns.count && shape.columns[column].isNumeric
    if isFirstRow {
      output.append(literal: isNumeric ? "<th class=n>" : "<th>")
    } else {
      output.append(literal: isNumeric ? "<td class=n>" : "<td>")
    }
  }

  mutating func text(_ text: Span<UInt8>, _ output: inout TextOutput) {
    if !isCellOpen { openCell(&output) }
    Self.escape(text, into: &output)
  }

  mutating func endCell(_ output: inout TextOutput) {
    if !isCellOpen { openCell(&output) }
    isCellOpen = false
    column += 1
  }

  mutating func endRow(_ output: inout TextOutput) {
    if isFirstRow {
      while column < shape.columns.count { endCell(&output) }
      output.append(literal: "</thead>\n<tbody>")
      isFirstRow = false
    } else if column < shape.columns.count {
      output.append("<td colspan=\(min(Self.widestSpan, shape.columns.count - column))>")
    }
    output.append(0x0a)
    column = 0
  }

  mutating func finish(_ output: inout TextOutput) {
    output.append(literal: isFirstRow ? "</table>\n</body>\n</html>\n" : "</tbody>\n</table>\n</body>\n</html>\n")
  }

  // MARK: Text

  /// Whether a byte needs no escaping.
  private static let isPlain: [Bool] = (0..<256).map { byte in
    switch UInt8(byte) {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), 0x7f: false
    case 0x09, 0x0a, 0x0d: true
    case let byte: byte >= 0x20
    }
  }

  private static func escape(_ text: Span<UInt8>, into output: inout TextOutput) {
    let isPlain = isPlain.span
    var index = 0
    while index < text.count {
      let start = index
      while index < text.count, isPlain[Int(text[index])] { index += 1 }
      if index > start { output.append(text.extracting(start..<index)) }
      guard index < text.count else { break }
      switch text[index] {
      case UInt8(ascii: "&"): output.append(literal: "&amp;")
      case UInt8(ascii: "<"): output.append(literal: "&lt;")
      case UInt8(ascii: ">"): output.append(literal: "&gt;")
      case let control: output.append(ShownText.picture(of: control).span)
      }
      index += 1
    }
  }
}
