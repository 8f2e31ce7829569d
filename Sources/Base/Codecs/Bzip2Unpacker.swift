internal import Bytes

/// What starts a block of bzip2, and what ends a stream: 48 bits at any bit.
enum Bzip2Mark: UInt64 {
  case block = 0x3141_5926_5359
  case end = 0x1772_4538_5090

  static let length: Int64 = 48

  var bytes: [UInt8] { [UInt8](bigEndian: rawValue, count: 6) }
}

/// Decodes a bzip2 file block by block: each is given to libbz2 as a stream of its own. What follows the streams and is
/// none is ignored.
final class Bzip2Unpacker: Unpacker {
  private let bits: BitFile
  /// The bit of the next mark, or of the next stream's header.
  private var position: Int64
  private(set) var isAtEnd = false
  /// The block's output, and how much of it was read.
  private var block: [UInt8] = []
  private var taken = 0

  /// The longest block, in bits: somewhat more than 900,000 bytes that do not compress.
  private static let longestBlock: Int64 = 8 * 1_200_000
  /// By its run lengths, 900,000 bytes may be this many.
  private static let longestOutput = 48 << 20
  private static let headerLength: Int64 = 32
  private static let checksumLength: Int64 = 32

  init(_ source: any ByteSource, from place: UnpackingPlace) {
    bits = BitFile(source)
    position = place.input
  }

  var isBetweenParts: Bool { taken == block.count }

  func place(at output: Int64) -> UnpackingPlace? {
    isBetweenParts && !isAtEnd ? UnpackingPlace(output: output, input: position) : nil
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

  /// Decodes the next block; false at the end.
  private func nextBlock() throws(Fault) -> Bool {
    (block, taken) = ([], 0)
    while !isAtEnd {
      try Interest.check()
      let next = try bits.number(at: position, count: Int(Bzip2Mark.length))
      if next == Bzip2Mark.block.rawValue {
        try decodeBlock()
        return true
      }
      if next == Bzip2Mark.end.rawValue {
        // Streams start at bytes.
        position = (position + Bzip2Mark.length + Self.checksumLength + 7) / 8 * 8
        isAtEnd = try !startsStream()
      } else if try startsStream() {
        position += Self.headerLength
      } else {
        throw Fault(.damaged, "expected a bzip2 block", atByte: position / 8)
      }
    }
    return false
  }

  private func startsStream() throws(Fault) -> Bool {
    guard position.isMultiple(of: 8), let header = try bits.number(at: position, count: Int(Self.headerLength)) else {
      return false
    }
    return header >> 8 == 0x425a68 && (0x31...0x39).contains(header & 0xff)
  }

  /// Tries each mark as the block's end: a mark may occur within a block by chance, and then the checksum does not match.
  private func decodeBlock() throws(Fault) {
    var end = position + Bzip2Mark.length
    let last = min(bits.count, position + Self.longestBlock)
    while let mark = try bits.mark(from: end, before: last) {
      if let decoded = try decoded(until: mark) {
        block = decoded
        position = mark
        return
      }
      end = mark + 1
    }
    throw Fault(.damaged, "expected a bzip2 block, found damage", atByte: position / 8)
  }

  /// The block's bytes, if it ends before bit `end`; nil if it does not.
  private func decoded(until end: Int64) throws(Fault) -> [UInt8]? {
    guard let checksum = try bits.number(at: position + Bzip2Mark.length, count: 32) else { return nil }
    var stream = Array("BZh9".utf8)
    let shift = try bits.append(position..<end, to: &stream)
    // The checksum of a stream of one block is the block's.
    var tail = BitAppender(free: shift)
    tail.append(Bzip2Mark.end.rawValue, count: 48, to: &stream)
    tail.append(checksum, count: 32, to: &stream)
    let decoder = try Bzip2Decoder()
    var output: [UInt8] = []
    var used = 0
    let step = 1 << 20
    while true {
      var fault: Fault?
      var progress = StreamProgress()
      let part = unsafe [UInt8](unsafeUninitializedCapacity: step) { buffer, initialized in
        unsafe stream.withUnsafeBytes { bytes in
          do throws(Fault) {
            progress = unsafe try decoder.decode(
              UnsafeRawBufferPointer(rebasing: bytes[used...]), into: UnsafeMutableRawBufferPointer(buffer))
          } catch { fault = error }
        }
        initialized = progress.produced
      }
      if let fault {
        if fault.kind == .damaged { return nil }
        throw fault
      }
      used += progress.consumed
      output = output.isEmpty ? part : output + part
      if progress.isFinished { return output }
      guard progress.consumed > 0 || progress.produced > 0, output.count <= Self.longestOutput else { return nil }
    }
  }
}
