extension CSVDialect {
  private static let delimiters = Array(",;\t|".utf8)
  /// The maximum number of bytes of a text to examine.
  private static let searchWindow = 64 << 10

  /// Detects the likeliest dialect of a text that starts with `head`: the one with the most consistent number of cells
  /// per row, more than one. On a tie, the first dialect wins, which has `preferred`, the delimiter implied by the
  /// file's name.
  init(ofTextStartingWith head: Span<UInt8>, preferred: UInt8) {
    self.init(delimiter: preferred)
    let head = head.extracting(0..<min(head.count, Self.searchWindow))
    var hasQuotes = false
    for index in head.indices where head[index] == 0x22 { hasQuotes = true }
    var best = Fit.none
    for delimiter in [preferred] + Self.delimiters.filter({ $0 != preferred }) {
      let isTable = best.score > 0
      // If all quotes are valid, unquoted parsing is not tried.
      let areSound = !hasQuotes || Self.areQuotesSound(head, delimiter)
      for quotes in areSound ? [true] : [true, false] {
        let dialect = CSVDialect(delimiter: delimiter, quotes: quotes)
        let fit = dialect.fit(head)
        // A single column can contain lists, or names with commas, but not in its header.
        if delimiter != preferred, !isTable, !fit.splitsNames { continue }
        // Literal quotes are rare: cells have to fit much better without quoting.
        if fit.score > best.score * (quotes ? 1.002 : 1.25) {
          best = fit
          self = dialect
        }
      }
      // `.csv` is used for any delimiter. Other extensions are used on purpose, so their delimiter need not yield more
      // cells than another one.
      if delimiter == preferred, delimiter != UInt8(ascii: ","), best.isPerfect { return }
    }
  }

  /// Returns whether every cell with a quote starts and ends with one, with others in pairs (RFC 4180 §2). The last
  /// cell may be truncated.
  private static func areQuotesSound(_ text: Span<UInt8>, _ delimiter: UInt8) -> Bool {
    var index = 0
    var cells = 0
    while index < text.count {
      // The start of a cell.
      let isQuoted = text[index] == 0x22
      if isQuoted {
        index += 1
        while index < text.count, text[index] != 0x22 || index + 1 < text.count && text[index + 1] == 0x22 {
          index += text[index] == 0x22 ? 2 : 1
        }
        guard index < text.count else { return cells > 0 }
        index += 1
        cells += 1
      }
      while index < text.count, text[index] != delimiter, text[index] != 0x0a, text[index] != 0x0d {
        if isQuoted || text[index] == 0x22 { return false }
        index += 1
      }
      index += 1
    }
    return true
  }

  /// The fit of a dialect to a text.
  private struct Fit {
    static let none = Fit(score: 0, isPerfect: false, splitsNames: false)

    /// The score, from 0: the share of rows with the most common number of cells, increased slightly by that number.
    let score: Double
    /// Whether all rows have the same number of cells, more than one.
    let isPerfect: Bool
    /// Whether the header row has more than one cell. A title above it does not count. A title is followed by an empty
    /// line, or by rows of three or more cells, which is rare for lists in one column.
    let splitsNames: Bool
  }

  private func fit(_ text: Span<UInt8>) -> Fit {
    var reader = CSVReader(self)
    var counter = CellCounter()
    var nothing = TextOutput(capacity: 0)
    reader.read(text, into: &counter, &nothing)
    // The last row may be truncated. It counts only if it is the first.
    if counter.rows == 0 {
      if reader.isQuoted { return .none }
      reader.finish(into: &counter, &nothing)
    }
    guard let (cells, rows) = counter.commonest, cells > 1 else { return .none }
    let share = Double(rows) / Double(counter.rows)
    // An unterminated quote swallows the rest of the text.
    let swallowed = reader.isQuoted ? Double(counter.bytesInCell) / Double(max(1, text.count)) : 0
    // A decimal comma is in many rows, but not in the header.
    let head = counter.first == cells ? 1 : 0.8
    return Fit(
      score: share * head * (1 - swallowed) * (1 + min(Double(cells), 64) / 256),
      isPerfect: rows == counter.rows && swallowed < 0.5,
      splitsNames: counter.first > 1 || counter.isTitled || cells > 2)
  }

  /// Parses `sep=;`, a first line that declares the delimiter for Excel. Returns the delimiter and the line's length in
  /// bytes.
  static func announced(_ head: Span<UInt8>) -> (delimiter: UInt8, length: Int)? {
    guard head.count >= 6 else { return nil }
    for (index, byte) in "sep=".utf8.enumerated() where head[index] | 0x20 != byte | 0x20 { return nil }
    let delimiter = head[4]
    guard delimiter != 0x22, delimiter != 0x0a, delimiter != 0x0d, delimiter < 0x80 else { return nil }
    if head[5] == 0x0a { return (delimiter, 6) }
    guard head[5] == 0x0d else { return nil }
    return (delimiter, head.count > 6 && head[6] == 0x0a ? 7 : 6)
  }
}

/// A counter of rows by their number of cells.
private struct CellCounter: CellSink {
  private var counts: [Int: Int] = [:]
  private var cells = 0
  private var isBlank = true
  private(set) var rows = 0
  /// The number of cells in the first row.
  private(set) var first = 0
  /// Whether the first row has one cell and is followed by an empty line.
  private(set) var isTitled = false
  private(set) var bytesInCell = 0

  /// The most common number of cells. On a tie, the larger one.
  var commonest: (cells: Int, rows: Int)? {
    counts.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
  }

  mutating func text(_ text: Span<UInt8>, _ output: inout TextOutput) { bytesInCell += text.count }

  mutating func endCell(_ output: inout TextOutput) {
    isBlank = isBlank && bytesInCell == 0
    bytesInCell = 0
    cells += 1
  }

  mutating func endRow(_ output: inout TextOutput) {
    // Blank lines are ignored.
    if cells > 1 || !isBlank {
      counts[cells, default: 0] += 1
      if rows == 0 { first = cells }
      rows += 1
    } else if rows == 1, first == 1 {
      isTitled = true
    }
    cells = 0
    isBlank = true
  }
}
