import Bytes
import Glibc
import NIOCore
import Text

/// The records of a ZIP archive that is written sequentially (APPNOTE 6.3.10). Sizes and checksums follow each entry in
/// a data descriptor, and ZIP64 is used if numbers need it.
struct ZipRecords {
  /// An entry whose bytes are being written.
  struct Entry {
    let name: [UInt8]
    let kind: Kind
    let modified: Timestamp
    let permissions: UInt16
    let method: Method
    let start: UInt64
    /// Whether the sizes have eight bytes.
    let isLarge: Bool

    enum Kind {
      case file
      case folder
    }

    /// The general purpose flags: whether a data descriptor follows, and whether the name is UTF-8.
    var flags: UInt16 { (kind == .file ? 1 << 3 : 0) | (name.span.isUTF8 ? 1 << 11 : 0) }
  }

  /// The compression methods (APPNOTE, section 4.4.5).
  enum Method: UInt16 {
    case stored = 0
    case deflated = 8
  }

  /// The number of bytes written.
  private(set) var size: UInt64 = 0
  private(set) var count: UInt64 = 0
  private var central: [UInt8] = []

  /// Writes the local header. `isLarge` is for files that may have 4 GiB or more.
  mutating func begin(
    _ name: [UInt8], _ kind: Entry.Kind, _ method: Method, _ modified: Timestamp, permissions: UInt16, isLarge: Bool,
    to output: inout ByteBuffer
  ) -> Entry {
    let entry = Entry(
      name: name, kind: kind, modified: modified, permissions: permissions, method: method, start: size,
      isLarge: isLarge)
    var record: [UInt8] = []
    record.add(0x0403_4b50 as UInt32)
    record.add((isLarge ? 45 : 20) as UInt16)
    record.add(entry.flags)
    record.add(method.rawValue)
    Self.addTime(modified, to: &record)
    record.add(0 as UInt32)
    record.add((isLarge ? .max : 0) as UInt32)
    record.add((isLarge ? .max : 0) as UInt32)
    record.add(UInt16(name.count))
    let extra = Self.times(modified)
    record.add(UInt16(extra.count + (isLarge ? 20 : 0)))
    record += name + extra
    if isLarge {
      record.add(1 as UInt16)
      record.add(16 as UInt16)
      record.add(0 as UInt64)
      record.add(0 as UInt64)
    }
    write(record, to: &output)
    return entry
  }

  mutating func note(written count: Int) { size += UInt64(count) }

  /// Writes the data descriptor of a file, and records the entry. Throws if its header has no space for its size.
  ///
  /// - Parameters:
  ///   - bytes: the size of the file.
  ///   - packed: its size in the archive.
  mutating func end(
    _ entry: Entry, crc: UInt32, count bytes: UInt64, packed: UInt64, to output: inout ByteBuffer
  ) throws(Fault) {
    if entry.kind == .file {
      guard entry.isLarge || max(bytes, packed) < UInt32.max else {
        throw Fault(.changed, "it grew while it was packed")
      }
      var record: [UInt8] = []
      record.add(0x0807_4b50 as UInt32)
      record.add(crc)
      for number in [packed, bytes] {
        if entry.isLarge { record.add(number) } else { record.add(UInt32(number)) }
      }
      write(record, to: &output)
    }
    let isFar = entry.start >= UInt32.max
    var wide: [UInt8] = []
    if entry.isLarge {
      wide.add(bytes)
      wide.add(packed)
    }
    if isFar { wide.add(entry.start) }
    central.add(0x0201_4b50 as UInt32)
    central.add((3 << 8 | 45) as UInt16)
    central.add((wide.isEmpty ? 20 : 45) as UInt16)
    central.add(entry.flags)
    central.add(entry.method.rawValue)
    Self.addTime(entry.modified, to: &central)
    central.add(crc)
    central.add(entry.isLarge ? .max : UInt32(packed))
    central.add(entry.isLarge ? .max : UInt32(bytes))
    central.add(UInt16(entry.name.count))
    let extra = Self.times(entry.modified)
    central.add(UInt16(extra.count + (wide.isEmpty ? 0 : 4 + wide.count)))
    central.add(0 as UInt16)
    central.add(0 as UInt16)
    central.add(0 as UInt16)
    let mode = UInt32(entry.permissions & 0o777) | UInt32(entry.kind == .file ? S_IFREG : S_IFDIR)
    central.add(mode << 16 | (entry.kind == .folder ? 0x10 : 0))
    central.add(isFar ? .max : UInt32(entry.start))
    central += entry.name + extra
    if !wide.isEmpty {
      central.add(1 as UInt16)
      central.add(UInt16(wide.count))
      central += wide
    }
    count += 1
  }

  /// Returns the central directory and its end record.
  mutating func finish() -> [UInt8] {
    let (start, length) = (size, UInt64(central.count))
    var end: [UInt8] = []
    let isWide = count >= UInt16.max || start >= UInt32.max || length >= UInt32.max
    if isWide {
      end.add(0x0606_4b50 as UInt32)
      end.add(44 as UInt64)
      end.add((3 << 8 | 45) as UInt16)
      end.add(45 as UInt16)
      end.add(0 as UInt32)
      end.add(0 as UInt32)
      for number in [count, count, length, start] { end.add(number) }
      end.add(0x0706_4b50 as UInt32)
      end.add(0 as UInt32)
      end.add(start + length)
      end.add(1 as UInt32)
    }
    end.add(0x0605_4b50 as UInt32)
    end.add(0 as UInt16)
    end.add(0 as UInt16)
    end.add(UInt16(min(count, UInt64(UInt16.max))))
    end.add(UInt16(min(count, UInt64(UInt16.max))))
    end.add(UInt32(min(length, UInt64(UInt32.max))))
    end.add(UInt32(min(start, UInt64(UInt32.max))))
    end.add(0 as UInt16)
    defer { central = [] }
    return central + end
  }

  private mutating func write(_ record: [UInt8], to output: inout ByteBuffer) {
    output.writeBytes(record)
    note(written: record.count)
  }

  /// Appends the MS-DOS time and date, in UTC, from 1980 on.
  private static func addTime(_ time: Timestamp, to record: inout [UInt8]) {
    let time = CalendarTime(time, within: 315_532_800...4_354_819_198)
    record.add(UInt16(time.hour << 11 | time.minute << 5 | time.second / 2))
    record.add(UInt16((time.year - 1980) << 9 | time.month << 5 | time.day))
  }

  /// Returns Info-ZIP's extended timestamp: the modification time in UTC.
  private static func times(_ time: Timestamp) -> [UInt8] {
    guard let seconds = Int32(exactly: time.seconds) else { return [] }
    var field: [UInt8] = []
    field.add(0x5455 as UInt16)
    field.add(5 as UInt16)
    field.append(1)
    field.add(UInt32(bitPattern: seconds))
    return field
  }
}

extension [UInt8] {
  /// Appends a number, lowest byte first.
  fileprivate mutating func add(_ number: some FixedWidthInteger & UnsignedInteger) {
    var rest = number
    for _ in 0..<number.bitWidth / 8 {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
