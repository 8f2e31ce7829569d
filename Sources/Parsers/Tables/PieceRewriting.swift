internal import Bytes

/// An incremental conversion of a file's bytes to text.
///
/// A value type: a copy continues from the same position, with the same output. Its size does not depend on the input
/// so far.
protocol PieceRewriting: Sendable {
  /// Converts a piece. Never fails: faults of the input are reported in the text or by `fault`.
  mutating func rewrite(_ piece: [UInt8], isLast: Bool, _ converters: inout TextDecoder.Converters) -> [UInt8]

  /// Whether further input yields no more output.
  var isFinished: Bool { get }

  /// The fault of reads past the end of the text. It makes copies of incomplete text fail.
  var fault: Fault? { get }
}

extension PieceRewriting {
  var fault: Fault? { nil }
}

/// A writer of a table in a specific format.
protocol TableMaking: CellSink, Sendable {
  mutating func begin(_ output: inout TextOutput)
  mutating func finish(_ output: inout TextOutput)
}

/// The pipeline from a table's bytes to its written form.
struct TableRewriting<Maker: TableMaking>: PieceRewriting {
  private var decoder: TextDecoder
  private var reader: CSVReader
  private var maker: Maker
  /// The length of a directive for other programs at the start of the text, in bytes.
  private var skipped: Int
  private var isStart = true

  init(_ encoding: TableEncoding, _ dialect: CSVDialect, skipping skipped: Int, _ maker: Maker) {
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
