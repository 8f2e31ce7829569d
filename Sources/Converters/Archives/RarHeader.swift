internal import Bytes
internal import WorkerKit

/// The facts about RAR archives that the library does not report.
enum RarHeader {
  private static let startSize = 7
  private static let startSize5 = 8
  private static let mark = Array("Rar!\u{1a}\u{7}\0".utf8)
  private static let mark5 = Array("Rar!\u{1a}\u{7}\u{1}\0".utf8)

  /// Returns whether an archive of version 4 is solid, by the flags of the header after its mark.
  static func isSolid(_ input: JobInput) -> Bool {
    guard input.count >= startSize + 5 else { return true }
    return unsafe input.bytes[startSize + 2] != 0x73 || input.bytes[startSize + 3] & 8 != 0
  }

  /// Returns whether an archive of version 5 is solid, by the archive flags of its first header.
  static func isSolid5(_ input: JobInput) -> Bool {
    guard let header = Header5(input, at: startSize5), header.type == 1, let flags = header.own else { return true }
    return flags & 4 != 0
  }

  /// Returns whether the last part of an archive of version 4 states that another part follows. The parts are
  /// concatenated.
  static func goesOn(_ input: JobInput) -> Bool {
    var last = false
    walk(input) { type, flags, _ in
      if type == 0x7b { last = flags & 1 != 0 }
    }
    return last
  }

  /// Returns whether an archive of version 4 ends within a header or the data that belongs to one. Bytes after its end
  /// mark are not part of it.
  static func isCutOff(_ input: JobInput) -> Bool {
    var hasEnd = false
    let end = walk(input) { type, _, head in
      // Another part starts with its mark.
      if head.starts(with: mark) { hasEnd = false }
      if type == 0x7b, head.count >= Int(UInt16(littleEndianBytes: head[5...])) { hasEnd = true }
    }
    return !hasEnd && end != input.count
  }

  /// Returns whether an archive of version 5 lacks its end header.
  static func isCutOff5(_ input: JobInput) -> Bool {
    var place = startSize5
    while let header = Header5(input, at: place), header.end > place, header.end <= input.count {
      // The following headers are encrypted.
      if header.type == 4 { return false }
      place = header.end
      guard header.type == 5 else { continue }
      place = placeBehindZeros(input, from: place)
      guard unsafe input.bytes[place...].starts(with: mark5) else { return false }
      place += startSize5
    }
    return true
  }

  /// Returns the CRC-32 and size of stored (uncompressed) files of version 4, by entry number.
  static func storedSums(_ input: JobInput) -> [Int: (crc: UInt32, size: Int64)] {
    var (number, sums) = (-1, [Int: (crc: UInt32, size: Int64)]())
    walk(input) { type, flags, head in
      guard type == 0x74, head.count >= 32 else { return }
      // A file that continues in another part has its sum in the last one.
      let (goesOnHere, isEncrypted) = (flags & 1 != 0, flags & 4 != 0)
      if !goesOnHere { number += 1 }
      guard head[25] == 0x30, !isEncrypted else { return }
      let more = flags & 0x100 != 0 && head.count >= 40 ? Int64(UInt32(littleEndianBytes: head[36...])) : 0
      sums[number] = (
        UInt32(littleEndianBytes: head[16...]), more << 32 | Int64(UInt32(littleEndianBytes: head[11...]))
      )
    }
    return sums
  }

  /// Calls `body` for each header of version 4, with its type, flags and first 40 bytes. Returns the offset of the
  /// first incomplete header, or of the header whose data is incomplete.
  @discardableResult
  private static func walk(_ input: JobInput, _ body: (UInt8, UInt16, [UInt8]) -> Void) -> Int {
    var place = 0
    while place + startSize <= input.count {
      let head = unsafe Array(input.bytes[place..<min(input.count, place + 40)])
      let (type, flags) = (head[2], UInt16(littleEndianBytes: head[3...]))
      let size = Int(UInt16(littleEndianBytes: head[5...]))
      guard size >= startSize else { return place }
      body(type, flags, head)
      var next = Int64(place) + Int64(size)
      if flags & 0x8000 != 0 || type == 0x74, head.count >= 11 {
        next += Int64(UInt32(littleEndianBytes: head[7...]))
        if type == 0x74 || type == 0x7a, flags & 0x100 != 0, head.count >= 36 {
          next += Int64(UInt32(littleEndianBytes: head[32...]) & 0x7fff) << 32
        }
      }
      guard next <= Int64(input.count) else { return place }
      place = type == 0x7b ? placeBehindZeros(input, from: Int(next)) : Int(next)
    }
    return place
  }

  /// Returns the numbers of the encrypted entries of version 5, which the library does not report.
  static func encrypted5(_ input: JobInput) -> Set<Int> { Set(files5(input) { $0.isEncrypted ? true : nil }.keys) }

  /// Returns the numbers of the entries of version 5 that have no checksum.
  static func unchecked5(_ input: JobInput) -> Set<Int> { Set(files5(input) { $0.hasSum ? nil : true }.keys) }

  /// Returns the paths of the entries that entries of version 5 are copies of, by entry number. RAR stores identical
  /// files once (`-oi`). The library shows the copies as empty files.
  static func copies5(_ input: JobInput) -> [Int: [UInt8]] { files5(input, \.original) }

  /// Returns the CRC-32 and size of stored (uncompressed) files of version 5, by entry number. The library checks only
  /// those of compressed files.
  static func storedSums5(_ input: JobInput) -> [Int: (crc: UInt32, size: Int64)] {
    // A file that continues in another part has its sum in the last one.
    files5(input) { $0.isEncrypted ? nil : $0.storedSum }
  }

  /// Returns a property of the headers of files of version 5, by entry number. Of a file that continues in other parts,
  /// the last header that has it counts.
  private static func files5<Value>(_ input: JobInput, _ value: (Header5) -> Value?) -> [Int: Value] {
    var (place, number, values) = (startSize5, -1, [Int: Value]())
    while let header = Header5(input, at: place), header.end > place, header.end <= input.count {
      place = header.type == 5 ? placeBehindZeros(input, from: header.end) + startSize5 : header.end
      guard header.type == 2 else { continue }
      // A file continued from an earlier part is not a separate entry.
      if header.flags & 8 == 0 { number += 1 }
      if let value = value(header) { values[number] = value }
    }
    return values
  }

  /// Returns whether the last part of an archive of version 5 states that another part follows.
  static func goesOn5(_ input: JobInput) -> Bool {
    var (place, last) = (startSize5, false)
    while let header = Header5(input, at: place) {
      guard header.end > place, header.end <= input.count else { return last }
      place = header.end
      if header.type == 5 {
        last = header.own.map { $0 & 1 != 0 } ?? false
        // The next part's mark.
        place = placeBehindZeros(input, from: place) + startSize5
      }
    }
    return last
  }

  /// Returns the offset after the zeros that pad a part to a whole number of sectors.
  private static func placeBehindZeros(_ input: JobInput, from start: Int) -> Int {
    var place = start
    while place < input.count, unsafe input.bytes[place] == 0 { place += 1 }
    return place
  }
}

/// A header of version 5: a check, its size, its type, flags, optional sizes, and type-specific flags. All but the
/// check are encoded in seven bits a byte.
private struct Header5 {
  let type: UInt64
  let flags: UInt64
  /// Whether a file has an encryption record.
  let isEncrypted: Bool
  /// Whether a file has a CRC-32 or another checksum.
  let hasSum: Bool
  /// The flags of an archive header or an end header.
  private(set) var own: UInt64?
  /// The path of the entry that a file is a copy of. `nil` if the file has bytes of its own.
  let original: [UInt8]?
  /// The CRC-32 and size of a stored (uncompressed) file. `nil` if the header has none.
  let storedSum: (crc: UInt32, size: Int64)?
  /// The offset of the next header.
  let end: Int

  private static let checkSize = 4

  /// Returns `nil` if the offset does not have a header.
  init?(_ input: JobInput, at start: Int) {
    var place = start + Self.checkSize
    func number() -> UInt64? {
      var (value, shift): (UInt64, UInt64) = (0, 0)
      while place < input.count, shift < 63 {
        let byte = unsafe input.bytes[place]
        place += 1
        value |= UInt64(byte & 0x7f) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }
    func sumOfStored(_ fileFlags: UInt64) -> (crc: UInt32, size: Int64)? {
      guard fileFlags & 4 != 0, fileFlags & 8 == 0, let size = number(), number() != nil else { return nil }
      if fileFlags & 2 != 0 { place += 4 }
      guard place <= input.count - 4 else { return nil }
      let crc = unsafe UInt32(littleEndianBytes: input.bytes[place..<place + 4])
      place += 4
      // The method is in three bits.
      guard let compression = number(), compression >> 7 & 7 == 0 else { return nil }
      return (crc, Bounds.size(size))
    }
    guard let size = number() else { return nil }
    let content = place
    guard let type = number(), let flags = number() else { return nil }
    var extraSize: UInt64 = 0
    if flags & 1 != 0 {
      guard let found = number() else { return nil }
      extraSize = found
    }
    var dataSize: UInt64 = 0
    if flags & 2 != 0 {
      guard let found = number() else { return nil }
      dataSize = found
    }
    own = number()
    self.type = type
    storedSum = type == 2 ? own.flatMap { sumOfStored($0) } : nil
    guard size <= UInt64(input.count), dataSize <= UInt64(input.count) else { return nil }
    end = content + Int(size) + Int(dataSize)
    self.flags = flags
    var isEncrypted = false
    var hasSum = own.map { $0 & 4 != 0 } ?? false
    var original: [UInt8]?
    if type == 2, extraSize > 0, extraSize <= size {
      place = content + Int(size - extraSize)
      // Records have a size, and then a type.
      while place < content + Int(size), let count = number(), count <= size {
        let next = place + Int(count)
        let record = number()
        if record == 1 { isEncrypted = true }
        if record == 2 { hasSum = true }
        // A redirection has its type, flags, and a name.
        if record == 5, number() == 5, number() != nil, let length = number(), length <= size {
          original = unsafe Array(input.bytes[min(place, input.count)...].prefix(Int(length)))
        }
        place = next
      }
    }
    self.isEncrypted = isEncrypted
    self.original = original
    self.hasSum = hasSum
  }
}
