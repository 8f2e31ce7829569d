internal import Bytes

/// A sequential reader of TAR entries: v7, ustar, pax, GNU and star, including several archives in one file.
struct TarReader {
  private var blocks: BlockWindow
  /// The offset of the next header.
  private var offset: Int64
  private var globals = PaxAttributes()
  /// Whether the last blocks read were the zeros of an archive's end.
  private var isPastEnd = false
  /// The fault that prevented a complete reading. Entries around it are returned.
  private(set) var fault: Fault?

  /// The maximum length of a name that is read, in bytes.
  private static let longestName: Int64 = 64 << 10
  /// The maximum number of blocks to search for the next header.
  private static let longestSearch = 1 << 20

  init(_ source: any ByteSource, at offset: Int64 = 0) {
    blocks = BlockWindow(source)
    self.offset = offset
  }

  /// Returns the next entry. Returns `nil` at the end. Blocks.
  mutating func next() throws(Fault) -> TarEntry? {
    var first: Int64?
    var own = PaxAttributes()
    var longName: ArraySlice<UInt8>?
    var longTarget: ArraySlice<UInt8>?
    while true {
      guard let header = try nextHeader() else {
        // Attributes without an entry: the archive's end can follow them.
        if first != nil, !isPastEnd { note("ends within a header") }
        return nil
      }
      let start = first ?? offset
      guard let size = header.dataSize else {
        note("has an entry of impossible size")
        offset += Int64(TarHeader.size)
        continue
      }
      let data = offset + Int64(TarHeader.size)
      switch header.type {
      case UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "g"):
        guard let bytes = try content(at: data, size, atMost: PaxAttributes.longest) else { return nil }
        if header.type == UInt8(ascii: "g") { globals.add(bytes) } else { own.add(bytes) }
      case UInt8(ascii: "L"), UInt8(ascii: "K"):
        guard let bytes = try content(at: data, size, atMost: Self.longestName) else { return nil }
        let name = bytes.prefix { $0 != 0 }
        if header.type == UInt8(ascii: "L") { longName = name } else { longTarget = name }
      // A label, or Solaris' access list of the next entry.
      case UInt8(ascii: "V"), UInt8(ascii: "A"): break
      default:
        let attributes = own.over(globals)
        // The header can contain only a part of a long name, which can end with a slash.
        let entry = try entry(
          header, attributes, path: own.path ?? longName ?? attributes.path ?? header.path,
          target: own.linkTarget ?? longTarget ?? attributes.linkTarget ?? header.linkTarget, headerOffset: start,
          dataSize: size)
        offset = Self.padded(entry.dataOffset, entry.dataSize)
        return entry
      }
      first = start
      offset = Self.padded(data, size)
    }
  }

  /// Returns whether the data of the last returned entry is complete. Blocks.
  func holdsAll(_ entry: TarEntry) throws(Fault) -> Bool {
    if entry.dataSize == 0 { return true }
    return try blocks.holds(entry.dataOffset + entry.dataSize - 1)
  }

  private static func padded(_ start: Int64, _ count: Int64) -> Int64 {
    start + (count + Int64(TarHeader.size) - 1) / Int64(TarHeader.size) * Int64(TarHeader.size)
  }

  private mutating func note(_ reason: String) {
    if fault == nil { fault = Fault(.damaged, reason, atByte: offset) }
  }

  /// Returns the header at `offset`, or the next one. Zeros are skipped. Other blocks are skipped in search of a header
  /// unless they follow an archive's end. Returns `nil` if no header is found.
  private mutating func nextHeader() throws(Fault) -> TarHeader? {
    var searched = 0
    while let block = try blocks.block(at: offset) {
      if let header = TarHeader(block), searched == 0 || header.hasMagic {
        isPastEnd = false
        return header
      }
      if block.allSatisfy({ $0 == 0 }) {
        if searched == 0 { isPastEnd = true }
      } else {
        if isPastEnd || searched > Self.longestSearch { return nil }
        if searched == 0 { note("expected a header") }
        searched += 1
      }
      if searched.isMultiple(of: 1024) { try CancellationToken.check() }
      offset += Int64(TarHeader.size)
    }
    if try blocks.holds(offset), !isPastEnd { note("ends within a header") }
    return nil
  }

  /// Returns the content of a header that describes the next entry. Returns `nil` and records a fault if it is too long
  /// or truncated.
  private mutating func content(at start: Int64, _ size: Int64, atMost limit: Int64) throws(Fault) -> [UInt8]? {
    guard size <= limit else {
      note("has a header of \(size) bytes, over the limit of \(limit)")
      return nil
    }
    guard let bytes = try blocks.bytes(at: start, count: Int(size)) else {
      note("ends within a header")
      return nil
    }
    return bytes
  }

  private mutating func entry(
    _ header: TarHeader, _ attributes: PaxAttributes, path: ArraySlice<UInt8>, target: ArraySlice<UInt8>,
    headerOffset: Int64, dataSize: Int64
  ) throws(Fault) -> TarEntry {
    let dataSize = attributes.dataSize ?? dataSize
    var entry = TarEntry(
      kind: .file, path: path, target: target, permissions: header.mode & 0o777,
      modified: attributes.modified ?? Timestamp(seconds: Self.bounded(header.modified)), size: dataSize,
      headerOffset: headerOffset, dataOffset: offset + Int64(TarHeader.size), dataSize: dataSize,
      attributes: attributes)
    switch header.type {
    case UInt8(ascii: "1"):
      entry.kind = .hardLink
      // Some programs record the file's size and no data, others repeat the data.
      if dataSize > 0, try blocks.block(at: entry.dataOffset).map({ TarHeader($0) != nil }) ?? true {
        entry.dataSize = 0
      }
    case UInt8(ascii: "2"):
      entry.kind = .link
      entry.dataSize = 0
    case UInt8(ascii: "3"): entry.kind = .special("character device \(header.device.major):\(header.device.minor)")
    case UInt8(ascii: "4"): entry.kind = .special("block device \(header.device.major):\(header.device.minor)")
    case UInt8(ascii: "6"): entry.kind = .special("named pipe")
    case UInt8(ascii: "5"): (entry.kind, entry.dataSize) = (.folder, 0)
    // An incremental archive's list of the directory's content.
    case UInt8(ascii: "D"): entry.kind = .folder
    case UInt8(ascii: "S"): try readSparse(header, &entry)
    case TarHeader.continuation:
      entry.sizeElsewhere = max(0, min(header.offset, Bounds.largestSize - dataSize))
      entry.size += entry.sizeElsewhere
      // The header records no mode.
      entry.permissions = 0o644
    default:
      // In the first archives, only the name marks a directory.
      if entry.path.last == 0x2f { entry.kind = .folder }
    }
    if case .special = entry.kind { entry.dataSize = 0 }
    if entry.kind == .file, !entry.isSparse, let size = attributes.sparseSize {
      entry.isSparse = true
      entry.size = size
      entry.hasSparseMapInData = attributes.hasSparseMapInData
      entry.sparseAreas = attributes.sparseMap
    }
    return entry
  }

  private mutating func readSparse(_ header: TarHeader, _ entry: inout TarEntry) throws(Fault) {
    entry.isSparse = true
    entry.size = entry.attributes.sparseSize ?? header.sparseSize ?? 0
    entry.sparseAreas = header.sparseAreas
    var goesOn = header.isContinued
    while goesOn, let block = try blocks.block(at: entry.dataOffset) {
      try CancellationToken.check()
      let more = TarHeader.continuation(block)
      if entry.sparseAreas.count < TarSparseMap.mostAreas { entry.sparseAreas += more.areas }
      goesOn = more.isContinued
      entry.dataOffset += Int64(TarHeader.size)
    }
  }

  /// Limits a time, which can be before 1970.
  private static func bounded(_ time: Int64) -> Int64 { min(max(time, -Bounds.latestTime), Bounds.latestTime) }
}

/// The blocks of an archive, with read-ahead of 32 KiB.
private struct BlockWindow {
  private let source: any ByteSource
  private var bytes: [UInt8] = []
  private var start: Int64 = 0

  private static let size = 32 << 10

  init(_ source: any ByteSource) { self.source = source }

  /// Returns a whole block. Returns `nil` if the source ends before the block's end.
  mutating func block(at offset: Int64) throws(Fault) -> ArraySlice<UInt8>? {
    guard Bounds.holds(offset) else { return nil }
    if offset < start || offset + Int64(TarHeader.size) > start + Int64(bytes.count) {
      try CancellationToken.check()
      bytes = try source.bytes(at: offset, atMost: Self.size)
      start = offset
    }
    let place = Int(offset - start)
    return place + TarHeader.size <= bytes.count ? bytes[place..<place + TarHeader.size] : nil
  }

  /// Returns a range of bytes. Returns `nil` if the source ends before the range's end.
  func bytes(at offset: Int64, count: Int) throws(Fault) -> [UInt8]? {
    if offset >= start, offset + Int64(count) <= start + Int64(bytes.count) {
      return Array(bytes[Int(offset - start)..<Int(offset - start) + count])
    }
    let found = try source.bytes(at: offset, atMost: count)
    return found.count == count ? found : nil
  }

  /// Returns whether the source has a byte at an offset.
  func holds(_ offset: Int64) throws(Fault) -> Bool {
    if offset >= start, offset < start + Int64(bytes.count) { return true }
    return try !source.bytes(at: offset, atMost: 1).isEmpty
  }
}
