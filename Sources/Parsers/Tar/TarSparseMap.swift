internal import Bytes

/// The stored areas of a sparse file, one after the other. All other bytes are zeros.
struct TarSparseMap: Sendable {
  struct Area: Sendable {
    /// The offset in the file, in bytes.
    var offset: Int64
    var count: Int64
  }

  /// The areas in the file's order, without empty ones, with their offsets in the stored data.
  private(set) var pieces: [SparseSource.Piece] = []
  /// The size of the stored data, in bytes.
  private(set) var stored: Int64 = 0

  /// The maximum number of areas of a plausible file.
  static let mostAreas = 1 << 20

  /// Creates a map. Throws `damaged` if the areas are out of order, overlap, or exceed the file of `size` bytes.
  init(_ recorded: [Area], size: Int64) throws(Fault) {
    var end: Int64 = 0
    for area in recorded {
      guard area.offset >= end, area.count >= 0, area.offset <= size, area.count <= size - area.offset else {
        throw Fault(.damaged, "expected the areas of a sparse file of \(size) bytes in order")
      }
      end = area.offset + area.count
      guard area.count > 0 else { continue }
      pieces.append(SparseSource.Piece(offset: area.offset, count: area.count, start: stored))
      stored += area.count
    }
  }
}

extension TarSparseMap {
  /// Reads the map that precedes the data (GNU's version 1.0): decimal numbers, one per line, beginning with their
  /// count, padded to a block. Also returns the start of the data. Blocks.
  static func areas(in source: any ByteSource, from entry: TarEntry) throws(Fault) -> ([Area], dataStart: Int64) {
    var place = entry.dataOffset
    let end = entry.dataOffset + entry.dataSize
    var numbers: [Int64] = []
    var digits: [UInt8] = []
    var wanted = 1
    var isRemark = false
    while numbers.count < wanted {
      guard place + Int64(TarHeader.size) <= end else {
        throw Fault(.damaged, "expected a sparse file's map", atByte: place)
      }
      for byte in try source.bytes(at: place, count: TarHeader.size) where numbers.count < wanted {
        // Lines that begin with `#` are comments.
        if isRemark || byte == 0x23 && digits.isEmpty {
          isRemark = byte != 0x0a
          continue
        }
        if byte != 0x0a {
          digits.append(byte)
          if digits.count <= 20 { continue }
        }
        guard let number = PaxAttributes.decimal(digits[...]), numbers.count > 0 || number <= Int64(mostAreas) else {
          throw Fault(.damaged, "expected a sparse file's map", atByte: place)
        }
        numbers.append(number)
        digits = []
        if numbers.count == 1 { wanted = 1 + 2 * Int(number) }
      }
      place += Int64(TarHeader.size)
    }
    return (
      stride(from: 1, to: numbers.count, by: 2).map { Area(offset: numbers[$0], count: numbers[$0 + 1]) }, place
    )
  }
}
