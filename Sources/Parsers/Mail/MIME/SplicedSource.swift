internal import Bytes

/// Ranges of other sources, concatenated.
final class SplicedSource: ByteSource {
  struct Piece: Sendable {
    let source: any ByteSource
    let range: Range<Int64>
  }

  /// The pieces, with the offset of each in this source.
  private let pieces: [(start: Int64, piece: Piece)]
  let size: Int64

  init(_ pieces: some Sequence<Piece>) {
    var size: Int64 = 0
    self.pieces = pieces.filter { !$0.range.isEmpty }.map { piece in
      defer { size = Bounds.sum(size, piece.range.upperBound - piece.range.lowerBound) }
      return (size, piece)
    }
    self.size = size
  }

  /// Creates another source without some ranges. `cuts` must be ascending and must not overlap.
  convenience init(_ source: any ByteSource, without cuts: [Range<Int64>]) {
    var kept: [Piece] = []
    var from: Int64 = 0
    for cut in cuts + [source.size..<source.size] {
      if cut.lowerBound > from { kept.append(Piece(source: source, range: from..<cut.lowerBound)) }
      from = max(from, cut.upperBound)
    }
    self.init(kept)
  }

  func verify() throws(Fault) {
    // Adjacent ranges are usually of the same source.
    var last: (any ByteSource)?
    for (_, piece) in pieces where last !== piece.source {
      try piece.source.verify()
      last = piece.source
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let first = max(0, pieces.partitionIndex { $0.start <= offset } - 1)
    var written = 0
    let wanted = Int(min(Int64(buffer.count), size - offset))
    for (start, piece) in pieces[first...] where written < wanted {
      let from = offset + Int64(written) - start
      let count = Int(min(Int64(wanted - written), piece.range.upperBound - piece.range.lowerBound - from))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written..<written + count])
      let got = unsafe try piece.source.read(into: part, at: piece.range.lowerBound + from, blocking)
      guard got == count else {
        throw Fault(.damaged, "expected \(count) bytes, found \(got)", atByte: piece.range.lowerBound + from)
      }
      written += got
    }
    return written
  }
}
