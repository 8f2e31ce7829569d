package import Bytes
internal import Locks

/// A safe page derived from a message's HTML, generated block by block, with the last block cached.
package final class SafePage: ChunkedSource {
  /// A part's text, and its links.
  package struct Piece: Sendable {
    let text: any ByteSource
    let links: ContentLinks

    package init(text: any ByteSource, links: ContentLinks) {
      self.text = text
      self.links = links
    }
  }

  package struct Chunk: Sendable {
    let piece: Int
    /// The range in the piece's text.
    let range: Range<Int64>
    /// The offset in the page.
    let start: Int64
    let state: SafeHTML.State
  }

  private let pieces: [Piece]
  package let chunks: [Chunk]
  package let size: Int64
  private let latest: UnfairLock<(number: Int, bytes: [UInt8])>
  private let chunkSize: Int

  /// Generates everything once, to determine the size. Blocks. `chunkSize` is in bytes of text, and takes a few times
  /// that much memory. A longer tag or style sheet is removed.
  package init(_ pieces: [Piece], chunkSize: Int = 8 << 20) throws(Fault) {
    var chunks: [Chunk] = []
    var size: Int64 = 0
    var state = SafeHTML.State()
    var latest: (number: Int, bytes: [UInt8]) = (-1, [])
    for (number, piece) in pieces.enumerated() {
      var from: Int64 = 0
      state = state.ofNext
      while from < piece.text.size {
        let before = state
        let (made, used) = try Self.made(piece, from, chunkSize, &state)
        latest = (chunks.count, made)
        chunks.append(Chunk(piece: number, range: from..<from + used, start: size, state: before))
        size += Int64(made.count)
        from += used
      }
    }
    self.pieces = pieces
    self.chunks = chunks
    self.size = size
    self.latest = UnfairLock(latest)
    self.chunkSize = chunkSize
  }

  private static func made(_ piece: Piece, _ from: Int64, _ chunkSize: Int, _ state: inout SafeHTML.State)
    throws(Fault) -> (bytes: [UInt8], used: Int64)
  {
    let count = Int(min(Int64(chunkSize), piece.text.size - from))
    let html = try piece.text.bytes(at: from, count: count)
    let (bytes, used) = SafeHTML.made(html, isLast: from + Int64(count) == piece.text.size, piece.links, &state)
    return (bytes, Int64(used))
  }

  package func verify() throws(Fault) { for piece in pieces { try piece.text.verify() } }

  package static func start(of chunk: Chunk) -> Int64 { chunk.start }
  package static var changed: Fault { Fault(.changed, "is a page of a different size now") }

  package func bytes(of number: Int, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    if let known = latest.withLock({ $0.number == number ? $0.bytes : nil }) { return known }
    guard blocking == .blocking else { throw .later }
    let chunk = chunks[number]
    var state = chunk.state
    let (made, used) = try Self.made(pieces[chunk.piece], chunk.range.lowerBound, chunkSize, &state)
    let end = number + 1 < chunks.count ? chunks[number + 1].start : size
    guard Int64(made.count) == end - chunk.start, used == chunk.range.upperBound - chunk.range.lowerBound else {
      throw Self.changed
    }
    latest.withLock { $0 = (number, made) }
    return made
  }
}
