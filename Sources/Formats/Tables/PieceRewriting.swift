/// Makes a text of a file's bytes, which come in pieces.
///
/// A value: a copy goes on from the same place and makes the same. Its size does not depend on how much has come.
protocol PieceRewriting: Sendable {
  /// What becomes of a piece. Never fails: what is wrong with the bytes is said in the text.
  mutating func rewrite(_ piece: [UInt8], isLast: Bool, _ converters: inout TextDecoder.Converters) -> [UInt8]

  /// Whether nothing more will come of what follows.
  var isFinished: Bool { get }
}

/// Writes a table.
protocol TableMaking: CellSink, Sendable {
  mutating func begin(_ output: inout TextOutput)
  mutating func finish(_ output: inout TextOutput)
}

/// A table's cells, from bytes to whatever is made of them.
struct TableRewriting<Maker: TableMaking>: PieceRewriting {
  private var decoder: TextDecoder
  private var reader: CSVReader
  private var maker: Maker
  /// How many bytes of text at the start are for programs.
  private var skipped: Int
  private var isStart = true

  init(_ encoding: TextEncoding, _ dialect: CSVDialect, skipping skipped: Int, _ maker: Maker) {
    decoder = TextDecoder(encoding)
    reader = CSVReader(dialect)
    self.maker = maker
    self.skipped = skipped
  }

  var isFinished: Bool { false }

  mutating func rewrite(_ piece: [UInt8], isLast: Bool, _ converters: inout TextDecoder.Converters) -> [UInt8] {
    let text = decoder.decode(piece, isLast: isLast, &converters)
    var output = TextOutput(capacity: 2 * piece.count)
    if isStart {
      isStart = false
      maker.begin(&output)
    }
    let start = min(skipped, text.count)
    skipped -= start
    reader.read(text.span.extracting(start...), into: &maker, &output)
    if isLast {
      reader.finish(into: &maker, &output)
      maker.finish(&output)
    }
    return output.bytes
  }
}
