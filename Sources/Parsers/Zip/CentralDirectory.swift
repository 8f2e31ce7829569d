internal import Bytes
internal import Entries

/// A sequential reader of a central directory of any length, in blocks.
struct CentralDirectory {
  private let source: any ByteSource
  private var block: [UInt8] = []
  private var position = 0
  /// The offset of the block's first byte.
  private var blockOffset: Int64
  private let claimedEnd: Int64
  private let end: Int64
  private var clock = DOSClock()
  private let names: NameDecoder
  private var places: WrappedPlaces?
  private let volumes: Volumes
  /// The entry after the last one returned, if its offset has to be known first.
  private var ahead: Entry?

  private static let blockSize = 256 << 10
  /// The maximum size of a header: name, extra fields and comment have at most 64 KiB each.
  private static let longestHeader = CentralHeader.fixedSize + 3 * 0xffff

  struct Entry {
    var header: CentralHeader
    /// The recorded path in UTF-8. `EntryName` makes it safe.
    let path: ArraySlice<UInt8>
    /// The target of a PKWARE link, in UTF-8. Empty for any other entry.
    var linkTarget: ArraySlice<UInt8> = []
  }

  init(_ source: any ByteSource, _ end: EndOfCentralDirectory, _ names: NameDecoder) {
    self.source = source
    self.names = names
    blockOffset = end.directoryOffset
    claimedEnd = end.directoryOffset + end.directorySize
    self.end = end.recordsOffset
    places = WrappedPlaces(source, end)
    volumes = end.volumes
  }

  /// Returns the next entry. Returns `nil` at the directory's end. Can block.
  mutating func next() throws(Fault) -> Entry? {
    if places == nil { return try read() }
    guard var entry = ahead == nil ? try placed() : ahead else { return nil }
    ahead = try placed()
    places?.stretch(&entry.header, to: ahead?.header)
    return entry
  }

  private mutating func placed() throws(Fault) -> Entry? {
    guard var entry = try read() else { return nil }
    try places?.place(&entry.header)
    return entry
  }

  private mutating func read() throws(Fault) -> Entry? {
    if block.count - position < Self.longestHeader, blockOffset + Int64(block.count) < end { try refill() }
    guard block.count - position > 0 else { return nil }
    var clock = clock
    let found = try header(&clock)
    self.clock = clock
    guard let (header, size) = found else {
      // After the claimed end, a digital signature (APPNOTE 4.3.13) or anything else can follow, and before it zeros.
      if blockOffset + Int64(position) >= claimedEnd || block[position...].allSatisfy({ $0 == 0 }) { return nil }
      throw Fault(.damaged, "expected a central directory header", atByte: blockOffset + Int64(position))
    }
    let start = position
    position += size
    let path =
      if header.unicodeNameCount > 0 {
        names.path(block[(start + header.unicodeNameStart)...].prefix(header.unicodeNameCount), isUTF8: true)
      } else {
        names.path(block[(start + header.nameStart)...].prefix(header.nameCount), isUTF8: header.isNameUTF8)
      }
    guard header.linkTargetCount > 0 else { return Entry(header: header, path: path) }
    let target = block[(start + header.linkTargetStart)...].prefix(header.linkTargetCount)
    return Entry(header: header, path: path, linkTarget: names.utf8(target, isUTF8: header.isNameUTF8))
  }

  private func header(_ clock: inout DOSClock) throws(Fault) -> (header: CentralHeader, size: Int)? {
    let bytes = unsafe block.span.bytes
    var reader = ByteReader(bytes.extracting(position..<bytes.byteCount), originByte: blockOffset + Int64(position))
    guard var header = try reader.centralHeader(&clock) else { return nil }
    header.localHeaderOffset = volumes.place(header.localHeaderOffset, in: header.volume)
    return (header, reader.position)
  }

  private mutating func refill() throws(Fault) {
    let kept = block[position...]
    let offset = blockOffset + Int64(position) + Int64(kept.count)
    let count = Int(min(Int64(Self.blockSize), end - offset))
    block = try Array(kept) + source.bytes(at: offset, count: count)
    blockOffset += Int64(position)
    position = 0
  }
}
