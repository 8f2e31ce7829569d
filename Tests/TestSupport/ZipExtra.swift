/// Extra fields as stored in a header (APPNOTE 4.5, Info-ZIP's extrafld.txt).
public enum ZipExtra {
  public static func field(_ kind: UInt16, _ body: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(u16: kind)
    bytes.append(u16: UInt16(body.count))
    return bytes + body
  }

  /// Info-ZIP's extended timestamp with only the modification time.
  public static func extendedTimestamp(modified: Int32) -> [UInt8] {
    var body: [UInt8] = [1]
    body.append(u32: UInt32(bitPattern: modified))
    return field(0x5455, body)
  }

  /// NTFS times in 100 ns since 1601, all three equal.
  public static func ntfs(modified ticks: UInt64) -> [UInt8] {
    var body: [UInt8] = []
    body.append(u32: 0)
    body.append(u16: 1)
    body.append(u16: 24)
    for _ in 0..<3 { body.append(u64: ticks) }
    return field(0x000a, body)
  }

  /// A Unix modification time, as NTFS ticks.
  public static func ntfsTicks(seconds: Int64, hundredNanoseconds: UInt64 = 0) -> UInt64 {
    UInt64(seconds + 11_644_473_600) * 10_000_000 + hundredNanoseconds
  }

  /// Info-ZIP's first Unix field: access and modification times.
  public static func unix1(modified: Int32) -> [UInt8] {
    var body: [UInt8] = []
    body.append(u32: 0)
    body.append(u32: UInt32(bitPattern: modified))
    return field(0x5855, body)
  }

  /// A UTF-8 name for `name` in the header; `crc` overrides the correct checksum.
  public static func unicodePath(_ path: String, for name: [UInt8], crc: UInt32? = nil) -> [UInt8] {
    var body: [UInt8] = [1]
    body.append(u32: crc ?? ZipChecksum.crc32(name))
    return field(0x7075, body + Array(path.utf8))
  }
}

extension [UInt8] {
  mutating func append(u16 value: UInt16) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 8))
  }

  mutating func append(u32 value: UInt32) {
    append(u16: UInt16(truncatingIfNeeded: value))
    append(u16: UInt16(truncatingIfNeeded: value >> 16))
  }

  mutating func append(u64 value: UInt64) {
    append(u32: UInt32(truncatingIfNeeded: value))
    append(u32: UInt32(truncatingIfNeeded: value >> 32))
  }
}
