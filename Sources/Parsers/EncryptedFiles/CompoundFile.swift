internal import Bytes

/// Finds the streams of a compound file ([MS-CFB]) that are directly in its root.
///
/// Throws `damaged` if the file breaks the rules of its format. Not thread-safe.
final class CompoundFile {
  static let signature: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

  /// The bytes of a stream: pieces of the file.
  struct Stream: Sendable {
    let pieces: [SparseSource.Piece]
    let size: Int64

    func source(of file: any ByteSource) throws(Fault) -> any ByteSource {
      guard SparseSource.areValid(pieces, size: size, stored: file.size) else { throw CompoundFile.damaged }
      return SparseSource(pieces, of: file, size: size)
    }
  }

  private let file: any ByteSource
  private let shift: Int
  private let firstDirectory: UInt32
  private let firstSmallTable: UInt32
  /// The sectors of the table of sectors, in order.
  private var tableSectors: [UInt32] = []
  /// The sectors of the table that have been read.
  private var tables: [Int: [UInt32]] = [:]

  private var sectorSize: Int { 1 << shift }
  private var sectorCount: Int64 { file.size >> Int64(shift) }

  private static let headerSize = 512
  private static let smallShift: UInt8 = 6
  /// The minimum size of a stream that has sectors of its own, in bytes.
  private static let largeSize: UInt32 = 4096
  /// The maximum number of pieces of a stream.
  private static let mostPieces = 1 << 18
  private static let entrySize = 128
  /// The maximum number of sectors of the directory that are read.
  private static let mostDirectorySectors = 4096
  /// Numbers from here on are not sectors.
  private static let firstMark: UInt32 = 0xffff_fffa

  static var damaged: Fault { Fault(.damaged, "is not a valid compound file") }

  init(_ file: any ByteSource) throws(Fault) {
    self.file = file
    let header = try file.bytes(at: 0, count: Self.headerSize)
    func number(_ place: Int) -> UInt32 { UInt32(littleEndianBytes: header[place..<(place + 4)]) }
    let shift = Int(header[30])
    guard header.starts(with: Self.signature), shift == 9 || shift == 12, header[31] == 0,
      header[32] == Self.smallShift, number(56) == Self.largeSize
    else { throw Self.damaged }
    self.shift = shift
    firstDirectory = number(48)
    firstSmallTable = number(60)
    let perSector = Int64(1 << shift / 4)
    // A table that describes more sectors than the file has is not needed.
    let most = Int(min(Int64(number(44)), sectorCount / perSector + 2))
    var found: [UInt32] = (0..<109).map { number(76 + 4 * $0) }
    var next = number(68)
    var steps = 0
    while found.count < most, next < Self.firstMark, steps < most {
      let sector = try numbers(ofSector: next)
      found += sector.dropLast()
      next = sector.last ?? Self.firstMark
      steps += 1
    }
    tableSectors = Array(found.prefix(most))
  }

  /// Returns the offset of a sector. The header occupies the first.
  private func offset(of sector: UInt32) throws(Fault) -> Int64 {
    let offset = (Int64(sector) + 1) << Int64(shift)
    guard sector < Self.firstMark, offset < file.size else { throw Self.damaged }
    return offset
  }

  private func numbers(ofSector sector: UInt32) throws(Fault) -> [UInt32] {
    let bytes = try file.bytes(at: offset(of: sector), count: sectorSize)
    return stride(from: 0, to: bytes.count, by: 4).map { UInt32(littleEndianBytes: bytes[$0..<($0 + 4)]) }
  }

  /// Returns the sector after another one. Returns a mark after the last.
  private func next(after sector: UInt32) throws(Fault) -> UInt32 {
    let perSector = sectorSize / 4
    let index = Int(sector) / perSector
    guard index < tableSectors.count else { throw Self.damaged }
    if let table = tables[index] { return table[Int(sector) % perSector] }
    let table = try numbers(ofSector: tableSectors[index])
    tables[index] = table
    return table[Int(sector) % perSector]
  }

  /// Returns the first `size` bytes of a chain of sectors, as pieces of the file.
  private func pieces(from first: UInt32, size: Int64) throws(Fault) -> [SparseSource.Piece] {
    guard size <= file.size else { throw Self.damaged }
    var chain = PieceChain()
    var sector = first
    while chain.size < size {
      let start = try offset(of: sector)
      chain.append(start, count: min(Int64(sectorSize), size - chain.size))
      guard chain.pieces.count <= Self.mostPieces else { throw Self.damaged }
      if chain.size < size { sector = try next(after: sector) }
    }
    return chain.pieces
  }

  private struct PieceChain {
    private(set) var pieces: [SparseSource.Piece] = []
    private(set) var size: Int64 = 0

    mutating func append(_ start: Int64, count: Int64) {
      if let last = pieces.last, last.start + last.count == start {
        pieces[pieces.count - 1].count += count
      } else {
        pieces.append(SparseSource.Piece(offset: size, count: count, start: start))
      }
      size += count
    }
  }

  // MARK: Directory

  private struct Entry {
    let name: [UInt16]
    let kind: UInt8
    let left: UInt32
    let right: UInt32
    let child: UInt32
    let start: UInt32
    let size: Int64

    /// Returns the name in upper case, by which names are compared (2.6.4).
    static func upper(_ name: some Sequence<UInt16>) -> [UInt16] {
      name.map { (0x61...0x7a).contains($0) ? $0 - 0x20 : $0 }
    }
  }

  /// Returns the streams with these names. Streams without bytes are omitted.
  func streams(named names: Set<String>) throws(Fault) -> [String: Stream] {
    let entries = try directory()
    guard let root = entries.first, root.kind == 5 else { throw Self.damaged }
    let wanted = names.map { (name: $0, upper: Entry.upper($0.utf16)) }
    var found: [String: Stream] = [:]
    var seen: Set<UInt32> = []
    var waiting = [root.child]
    while let number = waiting.popLast() {
      guard Int64(number) < Int64(entries.count), seen.insert(number).inserted else { continue }
      let entry = entries[Int(number)]
      waiting += [entry.left, entry.right]
      guard entry.kind == 2, entry.size > 0, let name = wanted.first(where: { $0.upper == entry.name })?.name else {
        continue
      }
      found[name] = Stream(pieces: try pieces(of: entry, root), size: entry.size)
    }
    return found
  }

  private func directory() throws(Fault) -> [Entry] {
    var entries: [Entry] = []
    var sector = firstDirectory
    var count = 0
    while sector < Self.firstMark, count < Self.mostDirectorySectors {
      let bytes = try file.bytes(at: offset(of: sector), count: sectorSize)
      for place in stride(from: 0, to: bytes.count, by: Self.entrySize) {
        func number(_ offset: Int) -> UInt32 {
          UInt32(littleEndianBytes: bytes[(place + offset)..<(place + offset + 4)])
        }
        let length = min(Int(bytes[place + 64]) / 2, 32)
        let name = (0..<max(0, length - 1)).map {
          UInt16(bytes[place + 2 * $0]) | UInt16(bytes[place + 2 * $0 + 1]) << 8
        }
        // In files with small sectors, the upper half of the size may be anything (2.6.3).
        let size = UInt64(number(120)) | (shift == 9 ? 0 : UInt64(number(124)) << 32)
        entries.append(
          Entry(
            name: Entry.upper(name), kind: bytes[place + 66], left: number(68), right: number(72), child: number(76),
            start: number(116), size: Bounds.size(size)))
      }
      sector = try next(after: sector)
      count += 1
    }
    return entries
  }

  /// Returns the pieces of a stream. A small one is in the sectors of 64 bytes of the root's stream.
  private func pieces(of entry: Entry, _ root: Entry) throws(Fault) -> [SparseSource.Piece] {
    guard entry.size < Self.largeSize else { return try pieces(from: entry.start, size: entry.size) }
    let stored = try pieces(from: root.start, size: root.size)
    let perSector = Int64(sectorSize / 4)
    var chain = PieceChain()
    var sector = entry.start
    var (table, tableIndex) = (firstSmallTable, Int64(0))
    while true {
      let offset = Int64(sector) << Int64(Self.smallShift)
      let count = min(Int64(1 << Self.smallShift), entry.size - chain.size)
      guard offset + count <= root.size, let piece = stored.first(where: { $0.end > offset }) else {
        throw Self.damaged
      }
      chain.append(piece.start + offset - piece.offset, count: count)
      if chain.size == entry.size { return chain.pieces }
      let wanted = Int64(sector) / perSector
      if wanted < tableIndex { (table, tableIndex) = (firstSmallTable, 0) }
      while tableIndex < wanted {
        table = try next(after: table)
        tableIndex += 1
      }
      sector = try numbers(ofSector: table)[Int(Int64(sector) % perSector)]
    }
  }
}
