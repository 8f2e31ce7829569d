extension CSVDialect {
  private static let delimiters = Array(",;\t|".utf8)
  /// So much of a text is looked at, in bytes.
  private static let lookout = 64 << 10

  /// The likeliest dialect of a text that starts with `head`: the one whose rows have most nearly the same number of cells,
  /// more than one. Of equals the first, so `preferred`, the delimiter that the file's name promises.
  init(ofTextStartingWith head: Span<UInt8>, preferred: UInt8) {
    self.init(delimiter: preferred)
    let head = head.extracting(0..<min(head.count, Self.lookout))
    var hasQuotes = false
    for index in head.indices where head[index] == 0x22 { hasQuotes = true }
    var best = Fit.none
    for delimiter in [preferred] + Self.delimiters.filter({ $0 != preferred }) {
      let isTable = best.score > 0
      // Where every quote is where quotes belong, they are not read otherwise.
      let areSound = !hasQuotes || Self.areQuotesSound(head, delimiter)
      for quotes in areSound ? [true] : [true, false] {
        let dialect = CSVDialect(delimiter: delimiter, quotes: quotes)
        let fit = dialect.fit(head)
        // One column may well have lists in it, or names with commas, but not above them.
        if delimiter != preferred, !isTable, !fit.splitsNames { continue }
        // A quote that opens nothing is rare: cells have to fit much better without.
        if fit.score > best.score * (quotes ? 1.002 : 1.25) {
          best = fit
          self = dialect
        }
      }
      // Every CSV is named so, whatever delimits it. Other names are not given by chance, and need no more cells than
      // another delimiter would make.
      if delimiter == preferred, delimiter != UInt8(ascii: ","), best.isPerfect { return }
    }
  }

  /// Whether a cell that has a quote starts and ends with one, and has others in pairs (RFC 4180 §2); the end may cut one off.
  private static func areQuotesSound(_ text: Span<UInt8>, _ delimiter: UInt8) -> Bool {
    var index = 0
    var cells = 0
    while index < text.count {
      // A cell starts.
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

  /// How well a dialect fits a text.
  private struct Fit {
    static let none = Fit(score: 0, isPerfect: false, splitsNames: false)

    /// From 0; the share of rows that have the commonest number of cells, and a little for how many those are.
    let score: Double
    /// Whether all rows have the same number of cells, more than one.
    let isPerfect: Bool
    /// Whether the row of names has more than one cell. A title above it is none: it has an empty line below, or rows of three
    /// cells and more, which lists in one column hardly all have.
    let splitsNames: Bool
  }

  private func fit(_ text: Span<UInt8>) -> Fit {
    var reader = CSVReader(self)
    var counter = CellCounter()
    var nothing = TextOutput(capacity: 0)
    reader.read(text, into: &counter, &nothing)
    // The last row may be cut off: it counts only where it is the first.
    if counter.rows == 0 {
      if reader.isQuoted { return .none }
      reader.finish(into: &counter, &nothing)
    }
    guard let (cells, rows) = counter.commonest, cells > 1 else { return .none }
    let share = Double(rows) / Double(counter.rows)
    // A quote that is never closed holds the rest of what was looked at.
    let swallowed = reader.isQuoted ? Double(counter.bytesInCell) / Double(max(1, text.count)) : 0
    // A decimal comma stands in many rows, but not among the names.
    let head = counter.first == cells ? 1 : 0.8
    return Fit(
      score: share * head * (1 - swallowed) * (1 + min(Double(cells), 64) / 256),
      isPerfect: rows == counter.rows && swallowed < 0.5,
      splitsNames: counter.first > 1 || counter.isTitled || cells > 2)
  }

  /// `sep=;`, with which a first line tells Excel the delimiter: that and how many bytes it takes.
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

/// How many rows have how many cells.
private struct CellCounter: CellSink {
  private var counts: [Int: Int] = [:]
  private var cells = 0
  private var isBlank = true
  private(set) var rows = 0
  /// The cells of the first row.
  private(set) var first = 0
  /// Whether the first row has one cell, and an empty line behind it.
  private(set) var isTitled = false
  private(set) var bytesInCell = 0

  /// Of equals the one with more cells.
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
    // Blank lines say nothing.
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
