internal import Bytes

/// A recovery of offsets and sizes in archives over 4 GiB without ZIP64, as macOS's Archive Utility writes them. Only
/// their low 32 bits are recorded.
///
/// Such archives have their entries in the directory's order. Each entry is at the first offset after the preceding
/// entry that has these low bits and a local header. All bytes between two entries belong to the first one.
struct WrappedPlaces {
  private let source: any ByteSource
  /// The start of the directory.
  private let end: Int64
  /// The minimum offset of all further entries.
  private var reached: Int64 = 0
  /// Whether an entry was not found. Later entries are then left as recorded.
  private var isLost = false

  static let round: Int64 = 1 << 32
  /// The maximum distance to search for an entry, in multiples of 4 GiB.
  private static let farthest = 1024

  /// Creates a recovery. Returns `nil` unless offsets are wrapped.
  init?(_ source: any ByteSource, _ end: EndOfCentralDirectory) {
    guard end.isWrapped else { return nil }
    self.source = source
    self.end = end.directoryOffset
  }

  /// Finds an entry's offset. Blocks.
  mutating func place(_ header: inout CentralHeader) throws(Fault) {
    guard !isLost else { return }
    var place = header.localHeaderOffset
    if place < reached { place += (reached - place + Self.round - 1) / Self.round * Self.round }
    for _ in 0..<Self.farthest where place + Int64(LocalHeaderScan.fixedSize) <= end {
      if try isLocalHeader(at: place, header) {
        header.localHeaderOffset = place
        reached = place + Int64(LocalHeaderScan.fixedSize)
        return
      }
      place += Self.round
    }
    isLost = true
  }

  private func isLocalHeader(at place: Int64, _ header: CentralHeader) throws(Fault) -> Bool {
    let bytes = try source.bytes(at: place, count: LocalHeaderScan.fixedSize)
    return bytes.starts(with: [0x50, 0x4b, 3, 4]) && Int(littleEndianBytes: bytes[26..<28]) == header.nameCount
  }

  /// Extends an entry of known offset up to the next entry, or to the directory if `next` is `nil`.
  ///
  /// This is right for entries that are stored or incompressible, such as films. Reading any other entry fails.
  func stretch(_ header: inout CentralHeader, to next: CentralHeader?) {
    guard !isLost else { return }
    let room = (next?.localHeaderOffset ?? end) - header.localHeaderOffset - Int64(LocalHeaderScan.fixedSize)
    guard room - header.compressedSize >= Self.round else { return }
    header.compressedSize += (room - header.compressedSize) / Self.round * Self.round
    // Deflate expands incompressible data by less than a thousandth.
    let least = header.compressedSize - header.compressedSize / 1000
    if header.size < least { header.size += (least - header.size + Self.round - 1) / Self.round * Self.round }
  }
}
