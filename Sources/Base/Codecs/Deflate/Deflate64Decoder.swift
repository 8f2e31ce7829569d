internal import Bytes

/// Decodes Deflate64 (ZIP's method 9).
///
/// The format is Deflate (RFC 1951) with a window of 64 KiB, matches of up to 65,538 bytes and two more distance codes.
@safe final class Deflate64Decoder: StreamDecoder {
  private var stream = Deflate64Stream()

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress { unsafe try stream.decode(input.bytes, into: output) }
}

private struct Deflate64Stream {
  private var bits = BitReader()
  private var window = Deflate64Window()
  private var block = Block.none
  private var isLastBlock = false
  private var literals = HuffmanCode()
  private var distances = HuffmanCode()
  /// The rest of a match that did not fit in the output.
  private var copy = (count: 0, distance: 0)

  private enum Block {
    /// Between two blocks.
    case none
    /// The number of bytes left.
    case stored(Int)
    case coded
    /// After the last block.
    case end
  }

  mutating func decode(
    _ input: RawSpan, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    bits.start()
    var produced = 0
    while produced < output.count {
      window.makeRoom()
      let start = window.end
      let limit = min(window.capacity, start + output.count - produced)
      let isMoving = try run(input, upTo: limit)
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: output[produced..<produced + window.end - start])
      unsafe target.copyBytes(from: window.bytes[start..<window.end])
      produced += window.end - start
      if !isMoving { break }
    }
    if case .end = block { return StreamProgress(consumed: bits.finish(), produced: produced, isFinished: true) }
    return StreamProgress(consumed: bits.finish(), produced: produced, isFinished: false)
  }

  /// Decodes until the window is filled up to `limit`. Returns false if the input or the stream ends before.
  private mutating func run(_ input: RawSpan, upTo limit: Int) throws(Fault) -> Bool {
    while true {
      if copy.count > 0 {
        let count = min(copy.count, limit - window.end)
        window.copy(count, from: copy.distance)
        copy.count -= count
        if copy.count > 0 { return true }
      }
      switch block {
      case .none:
        if isLastBlock {
          block = .end
          continue
        }
        let place = bits
        guard try startBlock(input) else {
          // The block's header is incomplete and will be read again from its start.
          bits = place
          return false
        }
      case .stored(let left):
        if left == 0 {
          block = .none
          continue
        }
        let count = min(left, limit - window.end, bits.bytesLeft(input))
        if count == 0 { return window.end == limit }
        window.append(input.extracting(bits.position..<bits.position + count))
        bits.position += count
        block = .stored(left - count)
      case .coded:
        if window.end == limit { return true }
        if try !symbols(input, upTo: limit) { return false }
      case .end: return false
      }
    }
  }

  /// Decodes symbols of a coded block up to its end or to `limit`. Returns false at the end of the input.
  private mutating func symbols(_ input: RawSpan, upTo limit: Int) throws(Fault) -> Bool {
    var bits = bits
    defer { self.bits = bits }
    while window.end < limit {
      let place = bits
      bits.refill(input)
      guard let symbol = try literals.decode(&bits) else { return stop(&bits, place) }
      if symbol < 256 {
        window.append(UInt8(truncatingIfNeeded: symbol))
        continue
      }
      if symbol == 256 {
        block = .none
        return true
      }
      guard symbol <= 285 else { throw Fault(.damaged, "expected Deflate64 data, found an invalid length") }
      let length = Deflate64Tables.lengths[symbol - 257]
      guard let extra = bits.take(Int(length.extra)) else { return stop(&bits, place) }
      bits.refill(input)
      guard let code = try distances.decode(&bits) else { return stop(&bits, place) }
      let base = Deflate64Tables.distances[code]
      guard let more = bits.take(Int(base.extra)) else { return stop(&bits, place) }
      let count = Int(length.base) + extra
      let distance = Int(base.base) + more
      guard distance <= window.filled else {
        throw Fault(.damaged, "expected Deflate64 data, found a reference to before the start")
      }
      let now = min(count, limit - window.end)
      window.copy(now, from: distance)
      if now < count {
        copy = (count - now, distance)
        return true
      }
    }
    return true
  }

  /// Restores the position before an incomplete symbol, which will be read again from its start.
  private func stop(_ bits: inout BitReader, _ place: BitReader) -> Bool {
    bits = place
    return false
  }

  /// Reads a block's header. Returns false if it is incomplete.
  private mutating func startBlock(_ input: RawSpan) throws(Fault) -> Bool {
    bits.refill(input)
    guard let last = bits.take(1), let kind = bits.take(2) else { return false }
    switch kind {
    case 0:
      bits.align()
      bits.refill(input)
      guard let count = bits.take(16), let complement = bits.take(16) else { return false }
      guard count == ~complement & 0xffff else {
        throw Fault(.damaged, "expected Deflate64 data, found an invalid stored block")
      }
      // Stored bytes are taken from the input directly.
      bits.giveBack()
      block = .stored(count)
    case 1:
      try literals.build(Deflate64Tables.fixedLiterals)
      try distances.build(Deflate64Tables.fixedDistances)
      block = .coded
    case 2:
      guard try readCodes(input) else { return false }
      block = .coded
    default: throw Fault(.damaged, "expected Deflate64 data, found an invalid block header")
    }
    isLastBlock = last == 1
    return true
  }

  /// Reads the two codes of a block (RFC 1951, 3.2.7). Returns false if they are incomplete.
  private mutating func readCodes(_ input: RawSpan) throws(Fault) -> Bool {
    guard let literalCount = bits.take(5), let distanceCount = bits.take(5), let lengthCount = bits.take(4) else {
      return false
    }
    var lengths = [UInt8](repeating: 0, count: 19)
    for index in 0..<lengthCount + 4 {
      bits.refill(input)
      guard let length = bits.take(3) else { return false }
      lengths[Deflate64Tables.lengthOrder[index]] = UInt8(length)
    }
    try literals.build(lengths)
    let wanted = literalCount + 257 + distanceCount + 1
    var all: [UInt8] = []
    while all.count < wanted {
      bits.refill(input)
      guard let symbol = try literals.decode(&bits) else { return false }
      if symbol < 16 {
        all.append(UInt8(symbol))
        continue
      }
      let (base, extra) = symbol == 16 ? (3, 2) : symbol == 17 ? (3, 3) : (11, 7)
      guard let more = bits.take(extra) else { return false }
      guard symbol != 16 || !all.isEmpty, all.count + base + more <= wanted else {
        throw Fault(.damaged, "expected Deflate64 data, found invalid code lengths")
      }
      all += repeatElement(symbol == 16 ? all[all.count - 1] : 0, count: base + more)
    }
    guard all[256] != 0 else { throw Fault(.damaged, "expected Deflate64 data, found a code without an end") }
    try literals.build(all[..<(literalCount + 257)])
    try distances.build(all[(literalCount + 257)...])
    return true
  }
}

private enum Deflate64Tables {
  typealias Value = (base: UInt32, extra: UInt8)

  /// The lengths by symbol, from 257 on. They are Deflate's, except for the last.
  static let lengths: [Value] =
    (0..<28).map { index in
      let extra = index < 8 ? 0 : (index - 4) / 4
      let base = index < 8 ? index + 3 : (4 + index % 4) << extra + 3
      return (UInt32(base), UInt8(extra))
    } + [(3, 16)]

  static let distances: [Value] = (0..<32).map { code in
    let extra = code < 4 ? 0 : (code - 2) / 2
    return (UInt32(code < 4 ? code + 1 : (2 + code % 2) << extra + 1), UInt8(extra))
  }

  static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
  static let fixedLiterals = (0..<288).map { UInt8($0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8) }[...]
  static let fixedDistances = [UInt8](repeating: 5, count: 32)[...]
}
