public import Bytes

/// The formats to which a table or JSON can be converted.
public enum TableForm: String, Sendable, CaseIterable {
  case html
  case text
  /// CSV, for contacts only.
  case csv

  /// The content of a file, according to its name.
  public enum Content: Sendable {
    /// A table with the likeliest delimiter.
    case table(delimiter: UInt8)
    case json
    /// JSON with one value per line.
    case jsonLines
    case calendar
    case contacts
  }

  /// The version of the output, incremented whenever a format's output changes.
  public static let version = 3

  /// The maximum number of bytes of a file to examine for its columns.
  private static let headSize: Int64 = 256 << 10

  /// Returns the text of a file in this format. JSON has only one format. Blocks briefly.
  ///
  /// - Parameters:
  ///   - title: The file's name, for display.
  ///   - ended: Called once, when the size is known.
  public func text(
    of source: any ByteSource, _ content: Content, title: String, guess: Int64, memory: RewrittenText.Memory,
    ended: @escaping @Sendable (Int64) -> Void
  ) throws(Fault) -> RewrittenText {
    let rewriting = try rewriting(source, content, title)
    return RewrittenText(of: source, rewriting, guess: guess, memory: memory, ended: ended)
  }

  func rewriting(
    _ source: any ByteSource, _ content: Content, _ title: String
  ) throws(Fault) -> any PieceRewriting {
    let head = try source.bytes(at: 0, count: Int(min(source.size, Self.headSize)))
    let encoding = TableEncoding(ofTextStartingWith: head[...])
    switch content {
    case .json: return JSONReformatter(encoding, isLineBound: false)
    case .jsonLines: return JSONReformatter(encoding, isLineBound: true)
    case .table(let delimiter): return table(head, encoding, delimiter, isWhole: head.count == source.size, title)
    case .calendar, .contacts: return CardRewriting(isTable: self == .csv)
    }
  }

  private func table(
    _ head: [UInt8], _ encoding: TableEncoding, _ delimiter: UInt8, isWhole: Bool, _ title: String
  ) -> any PieceRewriting {
    var converters = TextDecoder.Converters()
    var decoder = TextDecoder(encoding)
    let text = decoder.decode(head, isLast: isWhole, &converters)
    let announced = CSVDialect.announced(text.span)
    let skipped = announced?.length ?? 0
    let rest = text.span.extracting(skipped...)
    var dialect = CSVDialect(ofTextStartingWith: rest, preferred: announced?.delimiter ?? delimiter)
    if let announced { dialect.delimiter = announced.delimiter }
    let shape = TableShape(ofTableStartingWith: rest, dialect, isWhole: isWhole)
    switch self {
    case .html: return TableRewriting(encoding, dialect, skipping: skipped, HTMLTable(shape, title: title))
    case .text, .csv: return TableRewriting(encoding, dialect, skipping: skipped, TextTable(shape))
    }
  }
}
