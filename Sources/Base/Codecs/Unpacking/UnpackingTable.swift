internal import Bytes

/// The starts of a compressed file's parts, as the file itself records them. With a table, finding the size or a part
/// needs no decoding.
struct UnpackingTable: Sendable {
  /// The starts of the parts in the file's order. The first is the start of the file.
  var places: [FileRestartPoint]
  /// The size of the decoded file, in bytes.
  var size: Int64
  /// The fault of a file whose parts are intact although its headers are not. Nil without one.
  var fault: Fault?
  /// The blocks of an xz file. Nil for other formats.
  var blocks: XZBlocks?

  /// Reads the table. Returns `nil` if the file has none or is damaged. Blocks.
  static func read(_ source: any ByteSource, _ packing: CompressedFormat) throws(Fault) -> UnpackingTable? {
    do throws(Fault) {
      switch packing {
      case .xz:
        guard let blocks = try XZBlocks(source) else { return nil }
        let places = blocks.blocks.map { FileRestartPoint(output: $0.output, input: $0.input) }
        return UnpackingTable(
          places: places.isEmpty ? [.start] : places, size: blocks.size, fault: blocks.fault, blocks: blocks)
      case .lzip: return try lzip(source)
      case .zstd: return try zstd(source)
      case .gzip, .bzip2, .lz4, .lzma, .compress, .brotli: return nil
      }
    } catch {
      if error.kind == .damaged { return nil }
      throw error
    }
  }

  /// Creates a table from the sizes of the parts. Returns `nil` if they are impossible.
  private init?(_ parts: [(input: Int64, output: Int64)], start: Int64 = 0) {
    var (places, place): ([FileRestartPoint], FileRestartPoint) = ([], FileRestartPoint(output: 0, input: start))
    for part in parts {
      places.append(place)
      guard Bounds.holds(part.input), Bounds.holds(part.output) else { return nil }
      place = FileRestartPoint(output: place.output + part.output, input: place.input + part.input)
      guard Bounds.holds(place.output) else { return nil }
    }
    guard !places.isEmpty else { return nil }
    self.places = places
    size = place.output
  }

  private init(places: [FileRestartPoint], size: Int64, fault: Fault?, blocks: XZBlocks) {
    (self.places, self.size, self.fault, self.blocks) = (places, size, fault, blocks)
  }

  /// The maximum number of parts.
  private static let mostParts = 4 << 20

  /// Reads the sizes at the end of each lzip member.
  private static func lzip(_ source: any ByteSource) throws(Fault) -> UnpackingTable? {
    var end = source.size
    var parts: [(input: Int64, output: Int64)] = []
    while end > 0, parts.count < mostParts {
      try CancellationToken.check()
      guard end >= 26 else { return nil }
      let sizes = try source.bytes(at: end - 16, count: 16)
      let output = Bounds.size(UInt64(littleEndianBytes: sizes[..<8]))
      let input = Bounds.size(UInt64(littleEndianBytes: sizes[8...]))
      guard input >= 26, input <= end, try source.bytes(at: end - input, count: 5) == Array("LZIP".utf8) + [1] else {
        return nil
      }
      parts.append((input, output))
      end -= input
    }
    return end == 0 ? UnpackingTable(parts.reversed()) : nil
  }

  private static func zstd(_ source: any ByteSource) throws(Fault) -> UnpackingTable? {
    if let table = try seekTable(of: source) { return table }
    var offset: Int64 = 0
    var parts: [(input: Int64, output: Int64)] = []
    while offset < source.size {
      try CancellationToken.check()
      guard parts.count < mostParts, let frame = try ZstdFrame(in: source, at: offset), let size = frame.contentSize
      else { return nil }
      parts.append((frame.length, size))
      offset += frame.length
    }
    return UnpackingTable(parts)
  }

  /// Reads the table of Zstandard's seekable format from a skippable frame at the end.
  private static func seekTable(of source: any ByteSource) throws(Fault) -> UnpackingTable? {
    guard source.size >= 17 else { return nil }
    let footer = try source.bytes(at: source.size - 9, count: 9)
    guard UInt32(littleEndianBytes: footer[5...]) == 0x8f92_eab1, footer[4] & 0x7c == 0 else { return nil }
    let width = footer[4] & 0x80 == 0 ? 8 : 12
    let count = Int(UInt32(littleEndianBytes: footer[..<4]))
    let length = Int64(count * width)
    guard count <= mostParts, length + 17 <= source.size else { return nil }
    let start = source.size - 9 - length
    let head = try source.bytes(at: start - 8, count: 8)
    guard UInt32(littleEndianBytes: head[..<4]) == 0x184d_2a5e,
      Int64(UInt32(littleEndianBytes: head[4...])) == length + 9
    else { return nil }
    let rows = try source.bytes(at: start, count: Int(length))
    let parts = (0..<count).map { row in
      let place = row * width
      return (
        input: Int64(UInt32(littleEndianBytes: rows[place..<place + 4])),
        output: Int64(UInt32(littleEndianBytes: rows[place + 4..<place + 8]))
      )
    }
    guard parts.reduce(0, { $0 + $1.input }) == start - 8 else { return nil }
    return UnpackingTable(parts)
  }
}

/// The extent of a Zstandard frame (RFC 8878, 3.1), found without decoding it.
private struct ZstdFrame {
  /// The length in bytes, including the header.
  var length: Int64
  /// The size of the content in bytes. Nil if the frame does not record it.
  var contentSize: Int64?

  /// Reads the headers of a frame and its blocks. Returns `nil` if the frame is incomplete or invalid.
  init?(in source: any ByteSource, at start: Int64) throws(Fault) {
    let head = try source.bytes(at: start, count: Int(min(18, source.size - start)))
    guard head.count >= 8 else { return nil }
    let mark = UInt32(littleEndianBytes: head[..<4])
    if mark & 0xffff_fff0 == 0x184d_2a50 {
      (length, contentSize) = (8 + Int64(UInt32(littleEndianBytes: head[4..<8])), 0)
      if length > source.size - start { return nil }
      return
    }
    guard mark == 0xfd2f_b528 else { return nil }
    let flags = head[4]
    let isSingle = flags & 0x20 != 0
    var place = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][Int(flags & 3)]
    let sizeWidth = [isSingle ? 1 : 0, 2, 4, 8][Int(flags >> 6)]
    guard head.count >= place + sizeWidth else { return nil }
    if sizeWidth > 0 {
      let size = UInt64(littleEndianBytes: head[place..<place + sizeWidth])
      contentSize = Bounds.size(sizeWidth == 2 ? size + 256 : size)
    }
    place += sizeWidth
    var offset = start + Int64(place)
    var isLast = false
    var blocks = 0
    while !isLast {
      blocks += 1
      if blocks.isMultiple(of: 1024) { try CancellationToken.check() }
      guard offset + 3 <= source.size else { return nil }
      let header = UInt32(littleEndianBytes: try source.bytes(at: offset, count: 3))
      isLast = header & 1 != 0
      // A block of one repeated byte stores that byte only.
      offset += 3 + (header >> 1 & 3 == 1 ? 1 : Int64(header >> 3))
    }
    if flags & 4 != 0 { offset += 4 }
    guard offset <= source.size else { return nil }
    length = offset - start
  }
}
