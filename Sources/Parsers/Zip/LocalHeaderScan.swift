internal import Bytes

/// A sequential scan for entries by their local headers (APPNOTE 4.3.7), for an archive whose end is lost.
struct LocalHeaderScan {
  private let source: any ByteSource
  /// The offset of the next expected header.
  private var offset: Int64 = 0
  private var clock = DOSClock()
  private let names: NameDecoder

  static let fixedSize = 30
  private static let signature: [UInt8] = [0x50, 0x4b, 3, 4]
  /// The signature of a data descriptor (4.3.9) of 16 bytes, or of 24 bytes with 64-bit sizes.
  private static let descriptorSignature: [UInt8] = [0x50, 0x4b, 7, 8]
  private static let blockSize = 256 << 10
  /// The maximum number of bytes to search for descriptors, over all entries. Entries with recorded sizes need no
  /// search.
  private var budget: Int64 = 256 << 20

  init(_ source: any ByteSource, _ names: NameDecoder) {
    self.source = source
    self.names = names
  }

  /// Returns the next entry with complete data. Returns `nil` at the end. Blocks.
  mutating func next() throws(Fault) -> CentralDirectory.Entry? {
    guard offset <= source.size - Int64(Self.fixedSize) else { return nil }
    guard let (start, count) = try header() else { return nil }
    let bytes = try source.bytes(at: offset, count: count)
    guard var header = try? LocalHeaderScan.parse(bytes, &clock) else { return nil }
    header.localHeaderOffset = offset
    if header.flags & 8 != 0, header.compressedSize == 0 {
      // The sizes follow the data. The data's end is found by searching for the next signature.
      guard try findDescriptor(for: &header, from: start) else { return nil }
    } else {
      guard header.compressedSize <= source.size - start else { return nil }
      offset = start + header.compressedSize
    }
    try skipDescriptor()
    let path = names.utf8(bytes[header.nameStart...].prefix(header.nameCount), isUTF8: header.isNameUTF8)
    return CentralDirectory.Entry(header: header, path: path)
  }

  /// Returns the offset of the data of the entry at `offset`, and the size of its header. Returns `nil` if there is no
  /// header.
  private func header() throws(Fault) -> (dataStart: Int64, count: Int)? {
    let fixed = try source.bytes(at: offset, count: Self.fixedSize)
    guard fixed.starts(with: Self.signature) else { return nil }
    let count = Self.fixedSize + Int(littleEndianBytes: fixed[26..<28]) + Int(littleEndianBytes: fixed[28..<30])
    guard Int64(count) <= source.size - offset else { return nil }
    return (offset + Int64(count), count)
  }

  private static func parse(_ bytes: [UInt8], _ clock: inout DOSClock) throws(Fault) -> CentralHeader {
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span)
    var header = CentralHeader()
    try reader.skip(6)
    header.flags = try reader.u16()
    header.method = try reader.u16()
    let time = try reader.u16()
    let date = try reader.u16()
    header.modified = clock.timestamp(date: date, time: time)
    header.crc = try reader.u32()
    header.compressedSize = Int64(try reader.u32())
    header.size = Int64(try reader.u32())
    header.nameStart = fixedSize
    header.nameCount = Int(try reader.u16())
    let extraCount = Int(try reader.u16())
    try reader.skip(header.nameCount)
    let name = span.extracting(header.nameStart..<header.nameStart + header.nameCount)
    var extra = ByteReader(try reader.slice(extraCount))
    extra.readExtraFields(into: &header, name: name, extraStart: fixedSize + header.nameCount)
    return header
  }

  /// Searches for the data descriptor whose size matches the distance from the data's start. Sets `offset` to it.
  private mutating func findDescriptor(for header: inout CentralHeader, from start: Int64) throws(Fault) -> Bool {
    var place = start
    while place <= source.size - 16, budget > 0 {
      let count = Int(min(Int64(Self.blockSize), source.size - place))
      let block = try source.bytes(at: place, count: count)
      var position = 0
      while position + 16 <= count {
        guard let found = block[position..<(count - 15)].firstIndex(of: 0x50) else { break }
        position = found + 1
        guard block[found..<found + 4].elementsEqual(Self.descriptorSignature) else { continue }
        let distance = place + Int64(found) - start
        if Int64(UInt32(littleEndianBytes: block[(found + 8)...])) == distance & 0xffff_ffff {
          header.crc = UInt32(littleEndianBytes: block[(found + 4)...])
          header.compressedSize = distance
          header.size = Int64(UInt32(littleEndianBytes: block[(found + 12)...]))
          offset = start + distance
          return true
        }
      }
      budget -= Int64(count)
      if count < Self.blockSize { return false }
      // A descriptor can cross the block's end.
      place += Int64(count - 16)
    }
    return false
  }

  private mutating func skipDescriptor() throws(Fault) {
    guard offset <= source.size - 4, try source.bytes(at: offset, count: 4) == Self.descriptorSignature else { return }
    for size: Int64 in [16, 24] where offset + size <= source.size - 4 {
      if try source.bytes(at: offset + size, count: 2) == [0x50, 0x4b] {
        offset += size
        return
      }
    }
    offset = source.size
  }
}
