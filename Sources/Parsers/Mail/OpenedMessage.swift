internal import Bytes

/// A message with each opaque S/MIME part (RFC 8551 §3.5.2) replaced by its signed content.
///
/// Such a part contains another part with its own header, which replaces it. The result is parsed again, because signed
/// content may itself be signed.
struct OpenedMessage {
  /// The source of the parts.
  private(set) var source: any ByteSource
  private(set) var isQuoted: Bool
  private(set) var parts: [Part]
  private(set) var fault: Fault?

  /// The maximum nesting depth of signed parts.
  private static let deepest = 8

  /// Parses a message. Blocks. Throws only the faults of `source`.
  init(_ source: any ByteSource, isQuoted: Bool) throws(Fault) {
    self.source = source
    self.isQuoted = isQuoted
    var scanner = PartScanner(source)
    try scanner.scan()
    parts = scanner.parts
    fault = scanner.fault
    for _ in 0..<Self.deepest where parts.contains(where: { $0.kind == .signed }) {
      guard try openAll() else { break }
    }
  }

  /// Replaces all signed parts. Returns whether there were any.
  private mutating func openAll() throws(Fault) -> Bool {
    var pieces: [SplicedSource.Piece] = []
    var from: Int64 = 0
    var isCut = false
    for part in parts where part.kind == .signed {
      let decoded = try part.decoded(from: source, isQuoted: isQuoted)
      guard let data = try SignedData(decoded) else { continue }
      pieces.append(SplicedSource.Piece(source: source, range: from..<part.start))
      pieces += data.content.map { SplicedSource.Piece(source: decoded, range: $0) }
      from = part.body.upperBound
      isCut = isCut || data.isCut
      // Encoded content is not quoted.
      if part.start == 0 { isQuoted = false }
    }
    guard !pieces.isEmpty else { return false }
    pieces.append(SplicedSource.Piece(source: source, range: from..<source.size))
    source = SplicedSource(pieces)
    var scanner = PartScanner(source)
    try scanner.scan()
    parts = scanner.parts
    let cut = isCut ? Fault(.damaged, "expected the end of the signed content, found the end of its part") : nil
    fault = fault ?? scanner.fault ?? cut
    return true
  }
}
