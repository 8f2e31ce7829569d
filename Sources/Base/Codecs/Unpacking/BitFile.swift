internal import Bytes

/// A file as bits, the highest bit of each byte first.
///
/// Not thread-safe.
final class BitFile {
  private let source: any ByteSource
  private var window: [UInt8] = []
  /// The offset of the window's first byte.
  private var start: Int64 = 0
  /// The size of the file, in bits.
  let count: Int64

  private static let size = 2 << 20

  /// Opens a source, whose size must be known.
  init(_ source: any ByteSource) {
    self.source = source
    count = Bounds.size(source.size) * 8
  }

  /// Returns the window's bytes from `offset` on: at least `count` of them, unless the file ends before.
  func bytes(at offset: Int64, _ count: Int) throws(Fault) -> ArraySlice<UInt8> {
    if offset < start || offset + Int64(count) > start + Int64(window.count) {
      let most = Int(min(Int64(max(Self.size, count)), max(0, self.count / 8 - offset)))
      // Fewer if the source ends earlier than its size. The next read throws the reason.
      window = try source.bytes(at: offset, atMost: most)
      start = offset
    }
    return window[min(window.count, Int(offset - start))...]
  }

  /// Returns the `count` bits at `bit`, up to 56. Returns `nil` at the end.
  func number(at bit: Int64, count: Int) throws(Fault) -> UInt64? {
    guard bit >= 0, bit + Int64(count) <= self.count else { return nil }
    let bytes = try bytes(at: bit / 8, 8)
    var number: UInt64 = 0
    for place in 0..<8 {
      let index = bytes.startIndex + place
      number = number << 8 | (index < bytes.endIndex ? UInt64(bytes[index]) : 0)
    }
    return (number << UInt64(bit % 8)) >> UInt64(64 - count)
  }

  /// Returns the first mark that starts at or after bit `first` and ends at or before `last`. Returns `nil` if there is
  /// none.
  func mark(from first: Int64, before last: Int64) throws(Fault) -> Int64? {
    let mask: UInt64 = (1 << 48) - 1
    var word: UInt64 = 0
    var byte = first / 8
    while byte * 8 < last {
      try CancellationToken.check()
      let part = try bytes(at: byte, 64 << 10).prefix(64 << 10)
      if part.isEmpty { return nil }
      var found: Int64?
      unsafe part.withUnsafeBytes { part in
        for place in 0..<part.count {
          word = unsafe word << 8 | UInt64(part[place])
          for shift in (0..<8).reversed() {
            let candidate = word >> UInt64(shift) & mask
            guard candidate == Bzip2Mark.block.rawValue || candidate == Bzip2Mark.end.rawValue else { continue }
            let bit = (byte + Int64(place) + 1) * 8 - Int64(shift) - Bzip2Mark.length
            if bit >= first {
              found = bit
              return
            }
          }
        }
      }
      if let found { return found + Bzip2Mark.length <= last ? found : nil }
      byte += Int64(part.count)
    }
    return nil
  }

  /// Appends bits to whole bytes. Returns the number of free bits in the last byte.
  func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws(Fault) -> Int {
    let shift = range.lowerBound % 8
    let first = range.lowerBound / 8
    let length = Int((range.upperBound + 7) / 8 - first)
    let source = try self.bytes(at: first, length).prefix(length)
    let count = Int((range.upperBound - range.lowerBound + 7) / 8)
    bytes.reserveCapacity(bytes.count + count + 16)
    unsafe source.withUnsafeBytes { source in
      for place in 0..<count {
        let high = unsafe UInt16(source[place]) << 8
        let low = unsafe place + 1 < source.count ? UInt16(source[place + 1]) : 0
        bytes.append(UInt8(truncatingIfNeeded: (high | low) >> UInt16(8 - shift)))
      }
    }
    let free = count * 8 - Int(range.upperBound - range.lowerBound)
    if free > 0, let last = bytes.popLast() { bytes.append((last >> UInt8(free)) << UInt8(free)) }
    return free
  }
}

/// Appends numbers bit by bit to bytes, whose last byte may be partly free.
struct BitAppender {
  private var free: Int

  init(free: Int) { self.free = free }

  mutating func append(_ number: UInt64, count: Int, to bytes: inout [UInt8]) {
    for bit in (0..<count).reversed() {
      if free == 0 {
        bytes.append(0)
        free = 8
      }
      free -= 1
      bytes[bytes.count - 1] |= UInt8(truncatingIfNeeded: number >> UInt64(bit) & 1) << UInt8(free)
    }
  }
}
