internal import Bytes

/// The location of the central directory (APPNOTE 4.3.14 to 4.3.16).
///
/// Sizes and offsets are bounded (`Bounds`) as they are read.
struct EndOfCentralDirectory: Sendable {
  /// The offset from the start of the source, including bytes before the archive.
  var directoryOffset: Int64
  var directorySize: Int64
  /// The offset of the records after the directory. The directory can be longer than claimed but does not extend beyond
  /// it.
  var recordsOffset: Int64
  /// The recorded number of entries, which can be wrong, or right only in its low 16 bits.
  var entryCount: UInt64
  /// The number of bytes before the archive, to be added to every recorded offset.
  var prefix: Int64 = 0
  /// The volumes of a split archive.
  var volumes = Volumes.one
  private var hasZip64 = false
  /// Whether only the low 32 bits of offsets and sizes are recorded (see `WrappedPlaces`).
  var isWrapped = false

  private init(directoryOffset: Int64, directorySize: Int64, recordsOffset: Int64, entryCount: UInt64) {
    self.directoryOffset = directoryOffset
    self.directorySize = directorySize
    self.recordsOffset = recordsOffset
    self.entryCount = entryCount
  }

  /// The expected number of entries: the recorded number if plausible.
  var likelyCount: Int {
    let most = directorySize / Int64(CentralHeader.fixedSize)
    return Int(clamping: min(most, max(Int64(clamping: entryCount), most / 8)))
  }

  /// The space in the directory for names and other variable fields, in bytes.
  var nameBytes: Int { Int(clamping: directorySize) - likelyCount * CentralHeader.fixedSize }

  private static let signature: UInt32 = 0x0605_4b50
  private static let zip64Signature: UInt32 = 0x0606_4b50
  private static let zip64LocatorSignature: UInt32 = 0x0706_4b50
  private static let size = 22
  /// The distances from the end within which the record is searched for, in bytes. Most archives end with it, some with
  /// a comment of up to 64 KiB, a few with junk.
  private static let reaches: [Int64] = [1 << 10, 65_557, 1 << 20]

  /// Finds the record that leads to a central directory, searching backwards from the end. Blocks.
  static func find(in source: any ByteSource) throws(Fault) -> EndOfCentralDirectory {
    let window = min(source.size, reaches.last ?? 0)
    guard window >= size else {
      throw Fault(.damaged, "expected a ZIP archive of at least \(size) bytes, found \(source.size)", atByte: 0)
    }
    // An empty archive's record can be random bytes in a comment. It is used only if no other record leads to a
    // directory.
    var empty: EndOfCentralDirectory?
    var recordOffset: Int64?
    for reach in reaches {
      let start = source.size - min(window, reach)
      let tail = try source.bytes(at: start, count: Int(source.size - start))
      let candidates = candidates(in: tail)
      // Within the shortest range, only certain candidates are used. The next range includes the others.
      let isWide = reach > reaches[0] || start == source.size - window
      for position in candidates.fitting + (isWide ? candidates.others : []) {
        guard let found = try read(tail, at: position, startByte: start, of: source) else {
          recordOffset = recordOffset ?? start + Int64(position)
          continue
        }
        if found.directorySize > 0 { return found }
        empty = empty ?? found
      }
      if start == source.size - window { break }
    }
    if let empty { return empty }
    guard let recordOffset else {
      throw Fault(.damaged, "expected an end of central directory record in the last \(window) bytes, found none")
    }
    throw Fault(.damaged, "expected an end record that leads to a central directory", atByte: recordOffset)
  }

  /// Returns the number of volumes of a split archive whose last one is `source`. Returns 1 if no number is recorded.
  /// Blocks on the file's end.
  static func volumeCount(of source: any ByteSource) throws(Fault) -> Int {
    let start = source.size - min(source.size, reaches[1])
    let tail = try source.bytes(at: start, count: Int(source.size - start))
    let (fitting, others) = candidates(in: tail)
    guard let position = fitting.first ?? others.first else { return 1 }
    let last = UInt16(littleEndianBytes: tail[(position + 4)...])
    return volumeCount(endingWith: last, last == 0xffff ? try zip64(before: start + Int64(position), of: source) : nil)
  }

  /// Returns the number of volumes. The last volume's number is in the record, or in the ZIP64 record.
  private static func volumeCount(endingWith last: UInt16, _ zip64: Zip64?) -> Int {
    let last = last == 0xffff ? zip64?.volume ?? 0 : Int(last)
    return last < 0xffff ? last + 1 : 1
  }

  /// Returns the positions of the signature, last first: those with a comment that ends exactly at the end of the file,
  /// and others.
  private static func candidates(in tail: [UInt8]) -> (fitting: [Int], others: [Int]) {
    var fitting: [Int] = []
    var others: [Int] = []
    var position = tail.count - size
    while position >= 0 {
      if tail[position] == 0x50, tail[position + 1] == 0x4b, tail[position + 2] == 5, tail[position + 3] == 6 {
        let comment = Int(littleEndianBytes: tail[(position + 20)..<(position + 22)])
        if position + size + comment == tail.count { fitting.append(position) } else { others.append(position) }
      }
      position -= 1
    }
    return (fitting, Array(others.prefix(64)))
  }

  private static func read(
    _ tail: [UInt8], at position: Int, startByte start: Int64, of source: any ByteSource
  ) throws(Fault) -> EndOfCentralDirectory? {
    let bytes = unsafe tail.span.bytes
    var reader = ByteReader(bytes.extracting(position..<bytes.byteCount), originByte: start + Int64(position))
    try reader.skip(4)
    let volume = try reader.u16()
    let directoryVolume = try reader.u16()
    try reader.skip(2)
    let count = try reader.u16()
    let size = try reader.u32()
    let offset = try reader.u32()
    let recordOffset = start + Int64(position)

    var found = EndOfCentralDirectory(
      directoryOffset: Int64(offset), directorySize: Int64(size), recordsOffset: recordOffset,
      entryCount: UInt64(count))
    let zip64 = try zip64(before: recordOffset, of: source)
    let volumes = volumeCount(endingWith: volume, zip64)
    if volumes > 1 {
      found.volumes = Volumes(source, count: volumes)
      found.directoryOffset = found.volumes.place(found.directoryOffset, in: Int(directoryVolume))
    }
    if let zip64 {
      found.hasZip64 = true
      found.recordsOffset = zip64.recordOffset
      var large = found
      large.entryCount = zip64.entryCount
      large.directorySize = zip64.directorySize
      large.directoryOffset = found.volumes.place(zip64.directoryOffset, in: zip64.directoryVolume)
      if let placed = try large.placed(endingAt: zip64.recordOffset, in: source) { return placed }
      // The ZIP64 record is wrong: only values that the small record delegates to it are used.
      if count == 0xffff { found.entryCount = zip64.entryCount }
      if size == 0xffff_ffff { found.directorySize = zip64.directorySize }
      if offset == 0xffff_ffff { found.directoryOffset = large.directoryOffset }
    }
    return try found.placed(endingAt: found.recordsOffset, in: source)
  }

  private struct Zip64: Sendable {
    var directoryOffset: Int64
    var directorySize: Int64
    var entryCount: UInt64
    var recordOffset: Int64
    /// The numbers of the last volume and of the one in which the directory starts, counted from 0.
    var volume: Int
    var directoryVolume: Int
  }

  private static func zip64(before recordOffset: Int64, of source: any ByteSource) throws(Fault) -> Zip64? {
    let locatorSize: Int64 = 20
    guard recordOffset >= locatorSize else { return nil }
    let locator = try source.bytes(at: recordOffset - locatorSize, count: Int(locatorSize))
    let locatorBytes = unsafe locator.span.bytes
    var reader = ByteReader(locatorBytes)
    guard try reader.u32() == zip64LocatorSignature else { return nil }
    try reader.skip(4)
    let claimed = Bounds.size(try reader.u64())
    // Bytes before the archive shift the record, which is usually right before its locator.
    for offset in [claimed, recordOffset - locatorSize - 56]
    where offset >= 0 && offset <= recordOffset - locatorSize - 56 {
      let record = try source.bytes(at: offset, count: 56)
      let recordBytes = unsafe record.span.bytes
      var reader = ByteReader(recordBytes)
      guard try reader.u32() == zip64Signature else { continue }
      try reader.skip(12)
      let volume = Int(try reader.u32())
      let directoryVolume = Int(try reader.u32())
      try reader.skip(8)
      let count = try reader.u64()
      let size = Bounds.size(try reader.u64())
      let directory = Bounds.size(try reader.u64())
      return Zip64(
        directoryOffset: directory, directorySize: size, entryCount: count, recordOffset: offset, volume: volume,
        directoryVolume: directoryVolume)
    }
    return nil
  }

  /// Returns the location with `prefix` determined. Returns `nil` if the central directory is not found.
  private func placed(endingAt end: Int64, in source: any ByteSource) throws(Fault) -> EndOfCentralDirectory? {
    if directorySize == 0 && entryCount == 0 {
      return directoryOffset <= end ? self : nil
    }
    // The directory ends where the following records start. The difference from its recorded offset is the length of
    // the prefix.
    let actual = end - directorySize
    if actual >= directoryOffset, try isHeader(at: actual, in: source) {
      var moved = self
      // Offsets in a split archive are relative to their volume.
      moved.prefix = volumes.count > 1 ? 0 : actual - directoryOffset
      moved.directoryOffset = actual
      // A prefix of an exact multiple of 4 GiB is a wrapped offset.
      if !hasZip64, moved.prefix > 0, moved.prefix % WrappedPlaces.round == 0,
        try source.bytes(at: 0, count: 4) == [0x50, 0x4b, 3, 4]
      {
        moved.isWrapped = true
        moved.prefix = 0
      }
      return moved
    }
    if directoryOffset + directorySize <= end, try isHeader(at: directoryOffset, in: source) { return self }
    // Tries the recorded offset with another size.
    if directoryOffset < end, try isHeader(at: directoryOffset, in: source) {
      var resized = self
      resized.directorySize = end - directoryOffset
      return resized
    }
    return nil
  }

  private func isHeader(at offset: Int64, in source: any ByteSource) throws(Fault) -> Bool {
    guard offset >= 0, offset <= source.size - 4 else { return false }
    return try source.bytes(at: offset, count: 4) == [0x50, 0x4b, 1, 2]
  }
}
