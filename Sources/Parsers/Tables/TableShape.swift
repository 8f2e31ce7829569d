internal import Text

/// The columns of a table, as inferred from its first rows.
///
/// The first row names the columns. Later rows that differ are shown anyway: a longer cell, a longer row.
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

  /// Wider cells overflow into the next column.
  static let widest = 50
  /// The space between columns.
  static let gap = 2

  init() {}

  /// - Parameter isWhole: whether nothing follows `head`; otherwise its last row may be truncated.
  init(ofTableStartingWith head: Span<UInt8>, _ dialect: CSVDialect, isWhole: Bool) {
    var reader = CSVReader(dialect)
    var survey = Survey()
    var nothing = TextOutput(capacity: 0)
    reader.read(head, into: &survey, &nothing)
    if isWhole || survey.rows == 0 { reader.finish(into: &survey, &nothing) }
    columns = survey.columns.map { seen in
      // A numeric column may have a word for missing values.
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
    /// Of the current row: counted when it ends.
    private var row: [(width: Int, isFilled: Bool, isNumber: Bool)] = []

    /// How much of a cell is examined, in bytes.
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
  /// A copy.
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
