internal import Bytes

/// Undoes what programs do that write archives of more than 4 GiB without ZIP64, as macOS's Archive Utility: of places and
/// sizes they record the low 32 bits.
///
/// Such archives have their entries in the directory's order. So each lies at the first place behind the one before it that
/// has these low bits and at which there is a local header; and what is between two entries is the first one's.
struct WrappedPlaces {
  private let source: any ByteSource
  /// Where the directory starts.
  private let end: Int64
  /// Nothing more lies before it.
  private var reached: Int64 = 0
  /// Once an entry is nowhere, the rest is left as it is recorded.
  private var isLost = false

  static let round: Int64 = 1 << 32
  /// How far an entry is looked for, in rounds.
  private static let farthest = 1024

  /// nil unless the archive is one.
  init?(_ source: any ByteSource, _ end: EndOfCentralDirectory) {
    guard end.isWrapped else { return nil }
    self.source = source
    self.end = end.directoryOffset
  }

  /// Finds an entry's place. Blocks.
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
    return bytes.starts(with: [0x50, 0x4b, 3, 4]) && Int(bytes[26]) | Int(bytes[27]) << 8 == header.nameCount
  }

  /// Gives an entry whose place is known the size that it has when the next one, or else the directory, starts at `next`.
  ///
  /// What is stored or cannot be compressed has its size then, as films have; of all else reading it fails.
  func stretch(_ header: inout CentralHeader, to next: CentralHeader?) {
    guard !isLost else { return }
    let room = (next?.localHeaderOffset ?? end) - header.localHeaderOffset - Int64(LocalHeaderScan.fixedSize)
    guard room - header.compressedSize >= Self.round else { return }
    header.compressedSize += (room - header.compressedSize) / Self.round * Self.round
    // Deflating what cannot be compressed adds less than a thousandth.
    let least = header.compressedSize - header.compressedSize / 1000
    if header.size < least { header.size += (least - header.size + Self.round - 1) / Self.round * Self.round }
  }
}
