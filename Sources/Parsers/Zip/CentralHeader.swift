internal import Bytes

/// A record of the central directory (APPNOTE 4.3.12), with the values of its extra fields.
///
/// Sizes and offsets are bounded (`Bounds`) as they are read.
struct CentralHeader: Sendable {
  var madeByHost: UInt8 = 0
  var flags: UInt16 = 0
  var method: UInt16 = 0
  var crc: UInt32 = 0
  var compressedSize: Int64 = 0
  var size: Int64 = 0
  /// The recorded offset, relative to the start of the archive (excluding bytes before it) or of the volume.
  var localHeaderOffset: Int64 = 0
  /// The volume of a split archive that has the local header, counted from 0.
  var volume = 0
  var externalAttributes: UInt32 = 0
  var modified = Timestamp(seconds: 0)
  var nameStart = 0
  var nameCount = 0
  /// The location in the record's bytes of a UTF-8 name from the Info-ZIP Unicode Path extra field (0x7075).
  var unicodeNameStart = 0
  var unicodeNameCount = 0
  /// The position of the variable part of PKWARE's Unix extra field (0x000d): a link's target, or a device's numbers.
  var linkTargetStart = 0
  var linkTargetCount = 0
  /// Whether PKWARE's Unix extra field exists. The upper attribute half is then a Unix mode, regardless of the host
  /// number.
  var hasUnixField = false
  /// Values of the AES extra field (0x9901). The strength is 1 to 3 for keys of 128 to 256 bits; the method is the one
  /// below the encryption.
  var aesStrength: UInt8 = 0
  var aesVersion: UInt8 = 0
  var aesMethod: UInt16 = 0

  static let signature: UInt32 = 0x0201_4b50
  /// The size without the name, extra fields and comment.
  static let fixedSize = 46

  var isEncrypted: Bool { flags & 1 != 0 }
  var isNameUTF8: Bool { flags & 0x800 != 0 }
  /// Whether the upper attribute half is a Unix mode: the host is Unix, macOS (3, 19) or BeOS (16).
  var isUnix: Bool { [3, 16, 19].contains(madeByHost) || hasUnixField && unixMode & 0o170000 != 0 }
  var unixMode: UInt32 { externalAttributes >> 16 }
  /// Whether MS-DOS attributes mark a directory. Needed if MS-DOS, Windows or OS/2 recorded the name without a final
  /// slash.
  var isFolderOfDOS: Bool { [0, 6, 10, 11, 14].contains(madeByHost) && externalAttributes & 0x10 != 0 && size == 0 }
  /// Whether the entry is a link without data, whose target is in the extra field.
  var isPKWARELink: Bool {
    let type = unixMode & 0o170000
    return linkTargetCount > 0 && size == 0 && isUnix && (type == 0o120000 || type == 0o100000 || type == 0)
  }
  /// Whether the mode has a symbolic link's type. It is honored for every host that does not use that half otherwise,
  /// because some programs record an arbitrary host.
  var isLink: Bool { [0, 3, 7, 10, 11, 14, 16, 19].contains(madeByHost) && unixMode & 0o170000 == 0o120000 }
}

/// The modification times that an entry's extra fields record.
private struct ExtraTimes {
  /// The time of Info-ZIP's extended timestamp, the most common field: UTC in whole seconds.
  var extended: Timestamp?
  /// The time of the NTFS field: UTC in units of 100 ns.
  var ntfs: Timestamp?
  /// The time of Info-ZIP's and PKWARE's old Unix fields.
  var old: Timestamp?

  /// The extended timestamp, or the NTFS time if that adds a fraction. If there is neither, the old fields' time.
  var best: Timestamp? {
    if let ntfs, extended == nil || extended?.seconds == ntfs.seconds { return ntfs }
    return extended ?? old
  }
}

extension ByteReader {
  /// Reads a central directory record and advances past it. Returns `nil` for other bytes.
  @_lifetime(self: copy self)
  mutating func centralHeader(_ clock: inout DOSClock) throws(Fault) -> CentralHeader? {
    guard remaining >= CentralHeader.fixedSize else { return nil }
    guard try u32() == CentralHeader.signature else { return nil }
    var header = CentralHeader()
    header.madeByHost = UInt8(try u16() >> 8)
    try skip(2)
    header.flags = try u16()
    header.method = try u16()
    let time = try u16()
    let date = try u16()
    header.crc = try u32()
    let compressed = try u32()
    let size = try u32()
    header.nameCount = Int(try u16())
    let extraCount = Int(try u16())
    let commentCount = Int(try u16())
    header.volume = Int(try u16())
    try skip(2)
    header.externalAttributes = try u32()
    let offset = try u32()
    header.nameStart = position
    try skip(header.nameCount)
    header.compressedSize = Int64(compressed)
    header.size = Int64(size)
    header.localHeaderOffset = Int64(offset)
    header.modified = clock.timestamp(date: date, time: time)
    let extraStart = position
    let name = bytes.extracting(header.nameStart..<header.nameStart + header.nameCount)
    // The entry is usable even if the directory's end truncates its extra fields.
    var extra = ByteReader(try slice(min(extraCount, remaining)))
    extra.readExtraFields(into: &header, name: name, extraStart: extraStart)
    try skip(min(commentCount, remaining))
    return header
  }

  /// Reads the extra fields (APPNOTE 4.5, Info-ZIP's extrafld.txt). Fields that are too short are ignored.
  @_lifetime(self: copy self)
  mutating func readExtraFields(into header: inout CentralHeader, name: RawSpan, extraStart: Int) {
    var times = ExtraTimes()
    let recorded = header.modified
    while remaining >= 4, let kind = try? u16(), let count = try? u16() {
      let start = extraStart + position
      guard let bytes = try? slice(Int(count)) else { return }
      var field = ByteReader(bytes)
      try? field.readExtraField(kind, into: &header, name: name, start: start, recorded, &times)
    }
    header.modified = times.best ?? recorded
  }

  @_lifetime(self: copy self)
  private mutating func readExtraField(
    _ kind: UInt16, into header: inout CentralHeader, name: RawSpan, start: Int,
    _ recorded: Timestamp, _ times: inout ExtraTimes
  ) throws(Fault) {
    switch kind {
    case 0x0001: try zip64(into: &header)
    case 0x5455 where times.extended == nil:
      guard try u8() & 1 != 0 else { return }
      times.extended = try unixTime(near: recorded)
    case 0x000a where times.ntfs == nil: times.ntfs = try ntfsTime()
    case 0x5855, 0x000d:
      try skip(4)
      let time = try unixTime(near: recorded)
      times.old = times.old ?? time
      guard kind == 0x000d else { return }
      try skip(4)
      header.hasUnixField = true
      header.linkTargetStart = start + position
      header.linkTargetCount = remaining
    case 0x7075:
      guard try u8() == 1, try u32() == name.crc32 else { return }
      header.unicodeNameStart = start + 5
      header.unicodeNameCount = remaining
    case 0x9901:
      let version = try u16()
      try skip(2)
      header.aesStrength = try u8()
      header.aesMethod = try u16()
      header.aesVersion = UInt8(clamping: version)
    default: break
    }
  }

  /// Reads the 64-bit values, in order, of the fields that have their maximum value (APPNOTE 4.5.3).
  @_lifetime(self: copy self)
  fileprivate mutating func zip64(into header: inout CentralHeader) throws(Fault) {
    if header.size == 0xffff_ffff { header.size = Bounds.size(try u64()) }
    if header.compressedSize == 0xffff_ffff { header.compressedSize = Bounds.size(try u64()) }
    if header.localHeaderOffset == 0xffff_ffff { header.localHeaderOffset = Bounds.size(try u64()) }
    if header.volume == 0xffff { header.volume = Int(try u32()) }
  }

  /// Reads a 32-bit time. It is signed, unless the header's own time is closer to the value of the next 32-bit era.
  @_lifetime(self: copy self)
  fileprivate mutating func unixTime(near recorded: Timestamp) throws(Fault) -> Timestamp {
    let seconds = Int64(Int32(bitPattern: try u32()))
    let round: Int64 = 1 << 32
    // 2038-01-19: programs that treat the field as signed cannot write later times.
    guard recorded.seconds >= round / 2 else { return Timestamp(seconds: seconds) }
    return Timestamp(
      seconds: abs(seconds + round - recorded.seconds) < abs(seconds - recorded.seconds) ? seconds + round : seconds)
  }

  /// Reads the NTFS extra field's modification time, in units of 100 ns since 1601.
  @_lifetime(self: copy self)
  fileprivate mutating func ntfsTime() throws(Fault) -> Timestamp? {
    try skip(4)
    while remaining >= 4 {
      let tag = try u16()
      let count = Int(try u16())
      guard tag == 1, count >= 8 else {
        try skip(count)
        continue
      }
      let ticks = try u64()
      let secondsTo1970: Int64 = 11_644_473_600
      return Timestamp(
        seconds: Int64(ticks / 10_000_000) - secondsTo1970, nanoseconds: Int32(ticks % 10_000_000) * 100)
    }
    return nil
  }
}
