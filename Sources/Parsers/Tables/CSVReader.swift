/// A receiver of the cells of a table, in order.
protocol CellSink {
  /// Receives a part of the current cell: well-formed UTF-8 in complete characters.
  mutating func text(_ text: Span<UInt8>, _ output: inout TextOutput)
  /// Receives the whole current cell and ends it.
  mutating func cell(_ text: Span<UInt8>, _ output: inout TextOutput)
  mutating func endCell(_ output: inout TextOutput)
  mutating func endRow(_ output: inout TextOutput)
}

extension CellSink {
  @inline(__always)
  mutating func cell(_ text: Span<UInt8>, _ output: inout TextOutput) {
    self.text(text, &output)
    endCell(&output)
  }
}

/// The syntax of a table.
struct CSVDialect: Hashable, Sendable {
  var delimiter = UInt8(ascii: ",")
  /// Whether a `"` at a cell's start quotes delimiters and line ends.
  var quotes = true
}

/// An incremental parser of tables (RFC 4180, leniently).
///
/// Lines end with LF, CRLF or CR. A quote opens a cell only at its start, optionally after blanks. Text after its end
/// up to the delimiter is kept, unless it is only blanks. An open cell ends at the end of the text. An empty line is a
/// row with an empty cell. O(n); memory is independent of the length of cells or rows. A value type: a copy continues
/// from the same position.
struct CSVReader: Sendable {
  private let dialect: CSVDialect
  private var place = Place.rowStart
  /// Whether a following LF belongs to the preceding CR.
  private var isBehindReturn = false
  /// The number of blanks at a cell's start, kept unless a quote follows, or after a quote, kept if text follows.
  private var blanks = 0

  private enum Place {
    case rowStart, cellStart, plain, quoted, behindQuote
  }

  private static let quote = UInt8(ascii: "\"")
  private static let space = UInt8(ascii: " ")
  private static let newline: UInt8 = 0x0a
  private static let carriageReturn: UInt8 = 0x0d
  private static let manyBlanks = [UInt8](repeating: space, count: 64)

  init(_ dialect: CSVDialect) { self.dialect = dialect }

  /// Whether a quoted cell is open.
  var isQuoted: Bool { place == .quoted }

  mutating func read<Sink: CellSink>(_ text: Span<UInt8>, into sink: inout Sink, _ output: inout TextOutput) {
    var index = 0
    while index < text.count {
      switch place {
      case .rowStart, .cellStart:
        let byte = text[index]
        if byte == Self.newline, isBehindReturn, place == .rowStart {
          isBehindReturn = false
          index += 1
          continue
        }
        isBehindReturn = false
        if byte == Self.quote, dialect.quotes {
          blanks = 0
          place = .quoted
          index += 1
        } else if byte == Self.space, dialect.quotes {
          blanks += 1
          place = .cellStart
          index += 1
        } else {
          let isWhole = blanks == 0
          giveBlanks(&sink, &output)
          let start = index
          index = endOfPlain(text, index)
          guard isWhole, index < text.count else {
            if index > start { sink.text(text.extracting(start..<index), &output) }
            place = .plain
            continue
          }
          sink.cell(text.extracting(start..<index), &output)
          endRowOrNot(text[index], &sink, &output)
          index += 1
        }
      case .plain:
        let start = index
        index = endOfPlain(text, index)
        if index > start { sink.text(text.extracting(start..<index), &output) }
        guard index < text.count else { return }
        sink.endCell(&output)
        endRowOrNot(text[index], &sink, &output)
        index += 1
      case .quoted:
        let start = index
        while index < text.count, text[index] != Self.quote { index += 1 }
        if index > start { sink.text(text.extracting(start..<index), &output) }
        if index < text.count {
          place = .behindQuote
          index += 1
        }
      case .behindQuote:
        let byte = text[index]
        if byte == Self.quote, blanks == 0 {
          sink.text(text.extracting(index..<(index + 1)), &output)
          place = .quoted
          index += 1
        } else if endsCell(byte) {
          blanks = 0
          place = .plain
        } else if byte == Self.space {
          blanks += 1
          index += 1
        } else {
          giveBlanks(&sink, &output)
          place = .plain
        }
      }
    }
  }

  /// Returns the end of an unquoted cell, or of the text.
  @inline(__always)
  private func endOfPlain(_ text: Span<UInt8>, _ start: Int) -> Int {
    var index = start
    while index < text.count, !endsCell(text[index]) { index += 1 }
    return index
  }

  @inline(__always)
  private func endsCell(_ byte: UInt8) -> Bool {
    byte == dialect.delimiter || byte == Self.newline || byte == Self.carriageReturn
  }

  /// Handles the byte after a cell's end.
  @inline(__always)
  private mutating func endRowOrNot<Sink: CellSink>(_ byte: UInt8, _ sink: inout Sink, _ output: inout TextOutput) {
    if byte == dialect.delimiter {
      place = .cellStart
    } else {
      isBehindReturn = byte == Self.carriageReturn
      place = .rowStart
      sink.endRow(&output)
    }
  }

  mutating func finish<Sink: CellSink>(into sink: inout Sink, _ output: inout TextOutput) {
    if place == .rowStart { return }
    if place == .behindQuote { blanks = 0 }
    giveBlanks(&sink, &output)
    sink.endCell(&output)
    sink.endRow(&output)
    place = .rowStart
  }

  private mutating func giveBlanks<Sink: CellSink>(_ sink: inout Sink, _ output: inout TextOutput) {
    while blanks > 0 {
      let count = min(blanks, Self.manyBlanks.count)
      sink.text(Self.manyBlanks.span.extracting(0..<count), &output)
      blanks -= count
    }
  }
}
