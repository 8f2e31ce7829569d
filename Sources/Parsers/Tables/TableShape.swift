internal import Text

/// The columns of a table, as inferred from its first rows.
///
/// The first row names the columns. Later rows with longer cells or more cells are shown, too.
struct TableShape: Sendable {
  struct Column: Sendable {
    /// The width of the widest cell, up to a limit, in terminal columns.
    var width = 0
    /// Whether most cells are numbers.
    var isNumeric = false
    /// The offset in a line, in terminal columns.
    var start = 0
  }

  private(set) var columns: [Column] = []

  /// The maximum width of a column. Wider cells overflow into the next column.
  static let widest = 50
  /// The space between columns.
  static let gap = 2

  init() {}

  /// - Parameter isWhole: Whether nothing follows `head`. Otherwise, its last row may be truncated.
  init(ofTableStartingWith head: Span<UInt8>, _ dialect: CSVDialect, isWhole: Bool) {
    var reader = CSVReader(dialect)
    var survey = Survey()
    var nothing = TextOutput(capacity: 0)
    reader.read(head, into: &survey, &nothing)
    if isWhole || survey.rows == 0 { reader.finish(into: &survey, &nothing) }
    columns = survey.columns.map { seen in
      // A numeric column can have a word for missing values.
      Column(width: seen.width, isNumeric: seen.numbers > 0 && seen.numbers * 10 >= seen.filled * 9)
    }
    var start = 0
    for index in columns.indices {
      columns[index].start = start
      start += columns[index].width + Self.gap
    }
  }

  private struct Survey: CellSink {
    struct Seen {
      var width = 0
      var filled = 0
      var numbers = 0
    }

    private(set) var columns: [Seen] = []
    private(set) var rows = 0
    private var column = 0
    private var cell: [UInt8] = []
    /// The cells of the current row, which are counted when it ends.
    private var row: [(width: Int, isFilled: Bool, isNumber: Bool)] = []

    /// The maximum number of bytes of a cell to examine.
    private static let enough = 1024

    mutating func text(_ text: Span<UInt8>, _ output: inout TextOutput) {
      if cell.count < Self.enough { cell.append(text) }
    }

    mutating func endCell(_ output: inout TextOutput) {
      let isWide = cell.count >= Self.enough
      row.append(
        (
          isWide ? TableShape.widest : min(TableShape.widest, DisplayWidth.of(ShownText.line(cell))),
          !cell.isEmpty, !isWide && NumberForm.matches(cell)
        ))
      cell.removeAll(keepingCapacity: true)
    }

    mutating func endRow(_ output: inout TextOutput) {
      if row.count > columns.count {
        columns.append(contentsOf: repeatElement(Seen(), count: row.count - columns.count))
      }
      for (index, cell) in row.enumerated() {
        columns[index].width = max(columns[index].width, cell.width)
        // The first row contains names.
        guard rows > 0, cell.isFilled else { continue }
        columns[index].filled += 1
        if cell.isNumber { columns[index].numbers += 1 }
      }
      row.removeAll(keepingCapacity: true)
      rows += 1
    }
  }
}

extension Span where Element == UInt8 {
  /// A copy of the bytes.
  var array: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}

extension [UInt8] {
  @inline(__always)
  mutating func append(_ text: Span<UInt8>) {
    if text.count < 16 {
      for index in text.indices { append(text[index]) }
    } else {
      unsafe text.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
  }
}
