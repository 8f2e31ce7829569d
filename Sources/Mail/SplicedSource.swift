internal import Bytes

/// Another source without some of its stretches.
final class SplicedSource: ByteSource {
  private let source: any ByteSource
  /// What is kept, in order, and where it starts here.
  private let kept: [(start: Int64, range: Range<Int64>)]
  let size: Int64

  /// `cuts` are in order and do not overlap.
  init(_ source: any ByteSource, without cuts: [Range<Int64>]) {
    var kept: [(start: Int64, range: Range<Int64>)] = []
    var from: Int64 = 0
    var size: Int64 = 0
    for cut in cuts + [source.size..<source.size] {
      if cut.lowerBound > from {
        kept.append((size, from..<cut.lowerBound))
        size += cut.lowerBound - from
      }
      from = max(from, cut.upperBound)
    }
    self.source = source
    self.kept = kept
    self.size = size
  }

  func verify() throws(Fault) { try source.verify() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    var low = 0
    var high = kept.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if kept[middle].start <= offset { low = middle } else { high = middle }
    }
    var written = 0
    let wanted = Int(min(Int64(buffer.count), size - offset))
    for piece in kept[low...] where written < wanted {
      let from = offset + Int64(written) - piece.start
      let count = Int(min(Int64(wanted - written), piece.range.upperBound - piece.range.lowerBound - from))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written..<written + count])
      let got = unsafe try source.read(into: part, at: piece.range.lowerBound + from, patience)
      guard got == count else {
        throw Fault(.damaged, "expected \(count) bytes, found \(got)", atByte: piece.range.lowerBound + from)
      }
      written += got
    }
    return written
  }
}
