internal import Text

/// A table writer for plain text with aligned columns.
///
/// Columns are as wide as in the first rows. A wider cell shifts the following cells until there is space again.
struct TextTable: CellSink, TableMaking {
  private let shape: TableShape
  private var row = Row.first
  private var column = 0
  /// The current width of the line, in terminal columns.
  private var position = 0
  private var cell: [UInt8] = []
  /// Whether the cell is too long to be buffered and is written incrementally.
  private var isOverflowing = false

  private enum Row {
    case first, other
  }

  /// The maximum number of bytes of a cell to buffer.
  private static let longestCell = 4096

  init(_ shape: TableShape) { self.shape = shape }

  mutating func text(_ text: Span<UInt8>, _ output: inout TextOutput) {
    cell.append(text)
    if cell.count > Self.longestCell { overflow(&output) }
  }

  private mutating func overflow(_ output: inout TextOutput) {
    if !isOverflowing {
      isOverflowing = true
      pad(to: start, &output)
    }
    let shown = ShownText.line(cell)
    output.append(shown.span)
    position += shown.count
    cell.removeAll(keepingCapacity: true)
  }

  /// The first position at which the next cell can start.
  private var start: Int {
    let free = column == 0 ? 0 : position + TableShape.gap
    return column < shape.columns.count ? max(free, shape.columns[column].start) : free
  }

  private mutating func pad(to place: Int, _ output: inout TextOutput) {
    output.append(0x20, times: place - position)
    position = max(position, place)
  }

  mutating func endCell(_ output: inout TextOutput) {
    if isOverflowing {
      overflow(&output)
      isOverflowing = false
      column += 1
    } else {
      let whole = cell
      cell = []
      self.cell(whole.span, &output)
    }
  }

  mutating func cell(_ text: Span<UInt8>, _ output: inout TextOutput) {
    defer { column += 1 }
    if text.isEmpty { return }
    guard text.count <= Self.longestCell else {
      pad(to: start, &output)
      position += text.count
      return output.append(ShownText.line(text.array).span)
    }
    if let width = DisplayWidth.ofPlain(text) {
      pad(to: start(ofWidth: width), &output)
      output.append(text)
      position += width
    } else {
      let shown = ShownText.line(text.array)
      let width = DisplayWidth.of(shown)
      pad(to: start(ofWidth: width), &output)
      output.append(shown.span)
      position += width
    }
  }

  /// Returns the start of a cell of this width, right-aligned in a numeric column.
  private func start(ofWidth width: Int) -> Int {
    guard column < shape.columns.count, shape.columns[column].isNumeric else { return start }
    return max(start, shape.columns[column].start + shape.columns[column].width - width)
  }

  mutating func endRow(_ output: inout TextOutput) {
    output.append(0x0a)
    column = 0
    position = 0
    guard row == .first else { return }
    row = .other
    for column in shape.columns where column.width > 0 {
      pad(to: column.start, &output)
      output.append(UInt8(ascii: "-"), times: column.width)
      position += column.width
    }
    position = 0
    output.append(0x0a)
  }

  mutating func begin(_ output: inout TextOutput) {}
  mutating func finish(_ output: inout TextOutput) {}
}
