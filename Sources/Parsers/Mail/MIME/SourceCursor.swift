internal import Bytes

/// Reads little-endian integers and ranges of a source of any size, one block in memory at a time.
struct SourceCursor {
  let source: any ByteSource
  private let end: Int64
  private(set) var position: Int64
  private var block: [UInt8] = []
  private var blockStart: Int64 = 0

  init(_ source: any ByteSource, _ range: Range<Int64>) {
    self.source = source
    position = range.lowerBound
    end = min(range.upperBound, source.size)
  }

  var remaining: Int64 { end - position }

  /// Skips bytes. Throws a damaged fault past the end.
  mutating func skip(_ count: Int64) throws(Fault) {
    guard count >= 0, count <= remaining else {
      throw Fault(.damaged, "expected \(count) more bytes, found \(remaining)", atByte: position)
    }
    position += count
  }

  /// Returns the next `count` bytes, at most 64 KiB.
  mutating func bytes(_ count: Int) throws(Fault) -> ArraySlice<UInt8> {
    let start = position
    guard count <= 64 << 10 else { throw Fault(.limit, "\(count) bytes in one property", atByte: start) }
    try skip(Int64(count))
    if start < blockStart || position > blockStart + Int64(block.count) {
      blockStart = start
      block = try source.bytes(at: start, count: max(count, Int(min(4096, end - start))))
    }
    let from = Int(start - blockStart)
    return block[from..<from + count]
  }

  mutating func u8() throws(Fault) -> UInt8 { try bytes(1).first ?? 0 }
  mutating func u16() throws(Fault) -> UInt16 { UInt16(littleEndianBytes: try bytes(2)) }
  mutating func u32() throws(Fault) -> UInt32 { UInt32(littleEndianBytes: try bytes(4)) }
}
