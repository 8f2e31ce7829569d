internal import Bytes

/// The stored areas of a sparse file, one after the other. All other bytes are zeros.
struct TarSparseMap: Sendable {
  struct Area: Sendable {
    /// The offset in the file, in bytes.
    var offset: Int64
    var count: Int64
  }

  /// The areas in the file's order, without empty ones.
  private(set) var areas: [Area] = []
  /// The offset of each area's data in the stored data.
  private(set) var starts: [Int64] = []
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
      areas.append(area)
      starts.append(stored)
      stored += area.count
    }
  }
}

/// A sparse file: its stored areas and the holes between them.
final class TarSparseSource: ByteSource {
  private let stored: any ByteSource
  private let map: TarSparseMap
  let size: Int64

  init(_ stored: any ByteSource, _ map: TarSparseMap, size: Int64) {
    self.stored = stored
    self.map = map
    self.size = size
  }

  var identity: ByteIdentity? { nil }

  /// Returns the index of the first area that ends after an offset.
  private func area(endingAfter offset: Int64) -> Int {
    map.areas.partitionIndex { $0.offset + $0.count <= offset }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    unsafe part.initializeMemory(as: UInt8.self, repeating: 0)
    var index = area(endingAfter: offset)
    while index < map.areas.count, map.areas[index].offset < offset + Int64(wanted) {
      let area = map.areas[index]
      let start = max(area.offset, offset)
      let end = min(area.offset + area.count, offset + Int64(wanted))
      let place = map.starts[index] + start - area.offset
      unsafe try stored.fill(
        UnsafeMutableRawBufferPointer(rebasing: part[Int(start - offset)..<Int(end - offset)]), at: place, blocking)
      index += 1
    }
    return wanted
  }

  func next(_ kind: Area, from offset: Int64) throws(Fault) -> Int64? {
    guard offset >= 0, offset < size else { return nil }
    var index = area(endingAfter: offset)
    guard index < map.areas.count else { return kind == .data ? nil : offset }
    if kind == .data { return max(offset, map.areas[index].offset) }
    if offset < map.areas[index].offset { return offset }
    // Areas can be adjacent.
    var end = map.areas[index].offset + map.areas[index].count
    while index + 1 < map.areas.count, map.areas[index + 1].offset == end {
      index += 1
      end += map.areas[index].count
    }
    return end
  }

  func verify() throws(Fault) { try stored.verify() }
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
