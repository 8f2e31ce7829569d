internal import Bytes
internal import HTML
internal import Locks
internal import Text

/// Text derived from a message's parts, generated block by block, with the last block cached.
final class TextSource: ChunkedSource {
  /// A part's decoded bytes, and their conversion.
  struct Piece: Sendable {
    let source: any ByteSource
    let form: TextForm

    /// The piece with its original links.
    var unresolved: Piece {
      guard case .html = form.shape else { return self }
      return Piece(source: source, form: TextForm(shape: .html(ContentLinks()), charset: form.charset))
    }
  }

  struct Chunk: Sendable {
    let piece: Int
    /// The range in the piece's decoded bytes.
    let range: Range<Int64>
    /// The offset in the text.
    let start: Int64
    /// Iconv's name of the character set. Nil for UTF-8.
    let charset: String?
    /// Whether a line break follows, so that the next piece starts a line.
    let needsBreak: Bool
  }

  private let pieces: [Piece]
  let chunks: [Chunk]
  let size: Int64
  private let latest: UnfairLock<(number: Int, bytes: [UInt8])>

  private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]

  /// Generates everything once, to determine the size. Blocks. `isMarked` adds a byte order mark to text that is not
  /// all ASCII.
  init(_ pieces: [Piece], isMarked: Bool) throws(Fault) {
    var chunks: [Chunk] = []
    var size: Int64 = 0
    var isASCII = true
    var latest: (number: Int, bytes: [UInt8]) = (-1, [])
    for (number, piece) in pieces.enumerated() {
      let converter = try piece.form.converter(for: piece.source)
      let width = converter.map { CharsetConverter.unitWidth($0.name) } ?? 1
      var from: Int64 = 0
      while from < piece.source.size {
        let bytes = try TextChunk.bytes(piece.source, from, piece.form.chunkSize, unitWidth: width)
        let end = from + Int64(bytes.count)
        var made = piece.form.made(bytes, converter, isFirst: from == 0)
        let needsBreak = end == piece.source.size && number + 1 < pieces.count && made.last.map { $0 != 0x0a } ?? false
        if needsBreak { made.append(0x0a) }
        isASCII = isASCII && made.allSatisfy { $0 < 0x80 }
        latest = (chunks.count, made)
        chunks.append(
          Chunk(piece: number, range: from..<end, start: size, charset: converter?.name, needsBreak: needsBreak))
        size += Int64(made.count)
        from = end
      }
    }
    if isMarked, !isASCII, let first = chunks.first {
      // The mark is a separate block without a piece.
      chunks = chunks.map {
        Chunk(piece: $0.piece, range: $0.range, start: $0.start + 3, charset: $0.charset, needsBreak: $0.needsBreak)
      }
      chunks.insert(
        Chunk(piece: -1, range: first.range, start: 0, charset: nil, needsBreak: false), at: 0)
      size += 3
      latest.number += 1
    }
    self.pieces = pieces
    self.chunks = chunks
    self.size = size
    self.latest = UnfairLock(latest)
  }

  func verify() throws(Fault) { for piece in pieces { try piece.source.verify() } }

  static func start(of chunk: Chunk) -> Int64 { chunk.start }
  static var changed: Fault { Fault(.changed, "is text of a different size now") }

  func bytes(of number: Int, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    let chunk = chunks[number]
    guard chunk.piece >= 0 else { return Self.mark }
    if let known = latest.withLock({ $0.number == number ? $0.bytes : nil }) { return known }
    guard blocking == .blocking else { throw .later }
    let piece = pieces[chunk.piece]
    let bytes = try piece.source.bytes(
      at: chunk.range.lowerBound, count: Int(chunk.range.upperBound - chunk.range.lowerBound))
    var made = piece.form.made(
      bytes, chunk.charset.flatMap { CharsetConverter($0) }, isFirst: chunk.range.lowerBound == 0)
    if chunk.needsBreak { made.append(0x0a) }
    let end = number + 1 < chunks.count ? chunks[number + 1].start : size
    guard Int64(made.count) == end - chunk.start else { throw Self.changed }
    let kept = made
    latest.withLock { $0 = (number, kept) }
    return made
  }
}
