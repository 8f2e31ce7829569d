internal import Bytes

/// The 48-bit marks that start a bzip2 block or end a stream. They can start at any bit.
enum Bzip2Mark: UInt64 {
  case block = 0x3141_5926_5359
  case end = 0x1772_4538_5090

  static let length: Int64 = 48

  var bytes: [UInt8] { [UInt8](bigEndian: rawValue, count: 6) }
}

/// Decodes a bzip2 file block by block.
///
/// Each block is passed to libbz2 as a separate stream. For sequential reads, several blocks are decoded concurrently.
final class Bzip2Unpacker: Unpacker {
  private let bits: BitFile
  /// The bit position of the next mark or stream header.
  private var position: Int64
  private(set) var isAtEnd = false
  private(set) var isCut = false
  /// The running checksum of the current stream's blocks. Nil if not all of them were decoded here.
  private var checksum: UInt32?
  /// The fault of a stream whose blocks are intact but whose own checksum does not match.
  private var streamFault: Fault?
  /// The output of the current block, and the number of bytes read from it.
  private var block: [UInt8] = []
  private var taken = 0
  /// The number of blocks decoded in sequence.
  private var decoded = 0
  private let ahead = Bzip2Ahead()

  /// The maximum length of a block, in bits: somewhat more than 900,000 incompressible bytes.
  private static let longestBlock: Int64 = 8 * 1_200_000
  private static let headerLength: Int64 = 32
  /// The number of blocks read in sequence before others are decoded ahead. Random reads stay below it.
  private static let fewest = 3
  private static let checksumLength: Int64 = 32

  init(_ source: any ByteSource, from place: FileRestartPoint) {
    bits = BitFile(source)
    position = place.input
  }

  var isBetweenParts: Bool { taken == block.count }

  func place(at output: Int64) -> FileRestartPoint? {
    isBetweenParts && !isAtEnd ? FileRestartPoint(output: output, input: position) : nil
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    while taken == block.count {
      guard try nextBlock() else { return 0 }
    }
    let count = min(buffer.count, block.count - taken)
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]).copyBytes(from: block[taken..<taken + count])
    taken += count
    return count
  }

  /// Decodes the next block. Returns false at the end.
  private func nextBlock() throws(Fault) -> Bool {
    (block, taken) = ([], 0)
    while !isAtEnd {
      try CancellationToken.check()
      if try takeAhead() { return true }
      let next = try bits.number(at: position, count: Int(Bzip2Mark.length))
      if next == Bzip2Mark.block.rawValue {
        try decodeBlock()
        return true
      }
      if next == Bzip2Mark.end.rawValue {
        try checkEnd()
        // Streams start at byte boundaries.
        position = (position + Bzip2Mark.length + Self.checksumLength + 7) / 8 * 8
        if let zeros = try CompressedFormat.bzip2.nextMember(after: position / 8, peek) {
          position += zeros * 8
        } else {
          isAtEnd = true
          if let streamFault { throw streamFault }
        }
      } else if try startsStream() {
        position += Self.headerLength
        checksum = 0
      } else {
        throw Fault(.damaged, "expected a bzip2 block", atByte: position / 8)
      }
    }
    return false
  }

  /// Compares the checksum at a stream's end with the checksum of its blocks.
  private func checkEnd() throws(Fault) {
    let place = position + Bzip2Mark.length
    guard let expected = try bits.number(at: place, count: Int(Self.checksumLength)) else {
      isCut = true
      throw Fault(.damaged, "expected the checksum of a bzip2 stream, found the end", atByte: place / 8)
    }
    guard let checksum, streamFault == nil, checksum != UInt32(truncatingIfNeeded: expected) else { return }
    streamFault = Fault(crc: UInt32(truncatingIfNeeded: expected), found: checksum)
    streamFault?.offset = place / 8
  }

  /// Adds a block's checksum to its stream's.
  private func note(_ start: Int64) throws(Fault) {
    guard let known = checksum, let block = try bits.number(at: start + Bzip2Mark.length, count: 32) else { return }
    checksum = (known << 1 | known >> 31) ^ UInt32(truncatingIfNeeded: block)
  }

  /// Returns bytes at a distance from the current position, which is at a byte boundary. Returns fewer at the end.
  private func peek(_ count: Int, at distance: Int64) throws(Fault) -> [UInt8] {
    Array(try bits.bytes(at: position / 8 + distance, count).prefix(count))
  }

  private func startsStream() throws(Fault) -> Bool {
    guard position.isMultiple(of: 8), let header = try bits.number(at: position, count: Int(Self.headerLength)) else {
      return false
    }
    return header >> 8 == 0x425a68 && (0x31...0x39).contains(header & 0xff)
  }

  /// Takes the next block from those decoded ahead. Returns false if it is not among them.
  private func takeAhead() throws(Fault) -> Bool {
    guard decoded >= Self.fewest else { return false }
    var start = ahead.end ?? position
    while ahead.hasRoom, try bits.number(at: start, count: Int(Bzip2Mark.length)) == Bzip2Mark.block.rawValue,
      let end = try bits.mark(from: start + Bzip2Mark.length, before: min(bits.count, start + Self.longestBlock)),
      let packed = try packed(start..<end)
    {
      ahead.decode(packed, at: start..<end)
      start = end
    }
    guard let next = try ahead.take(at: position) else { return false }
    try note(position)
    (block, position) = (next.bytes, next.end)
    return true
  }

  /// Decodes the block at the current position.
  ///
  /// Each mark is tried as the block's end. A mark can occur within a block by chance; the checksum then does not
  /// match.
  private func decodeBlock() throws(Fault) {
    var end = position + Bzip2Mark.length
    let last = min(bits.count, position + Self.longestBlock)
    while let mark = try bits.mark(from: end, before: last) {
      if let bytes = try packed(position..<mark)?.decoded() {
        block = bytes
        try note(position)
        position = mark
        decoded += 1
        return
      }
      end = mark + 1
    }
    throw Fault(.damaged, "expected a bzip2 block, found damage", atByte: position / 8)
  }

  /// Returns the block in a range of bits, under the assumption that it ends there.
  private func packed(_ range: Range<Int64>) throws(Fault) -> Bzip2Block? {
    guard let checksum = try bits.number(at: range.lowerBound + Bzip2Mark.length, count: 32) else { return nil }
    var stream = Array("BZh9".utf8)
    let shift = try bits.append(range, to: &stream)
    // The checksum of a stream with one block is that of the block.
    var tail = BitAppender(free: shift)
    tail.append(Bzip2Mark.end.rawValue, count: 48, to: &stream)
    tail.append(checksum, count: 32, to: &stream)
    return Bzip2Block(stream: stream)
  }
}
