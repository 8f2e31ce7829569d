internal import Bytes
internal import Codecs

/// A cursor over numbers in seven bits a byte.
struct RarNumbers {
  var rest: ArraySlice<UInt8>

  static let damaged = Fault(.damaged, "expected a header of a RAR archive")

  init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

  mutating func next() throws(Fault) -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst(), shift < 63 {
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Self.damaged
  }

  mutating func bytes(_ count: UInt64) throws(Fault) -> [UInt8] {
    guard count <= UInt64(rest.count) else { throw Self.damaged }
    defer { rest = rest.dropFirst(Int(count)) }
    return Array(rest.prefix(Int(count)))
  }

  static func packed(_ number: UInt64) -> [UInt8] {
    var (bytes, rest): ([UInt8], UInt64) = ([], number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(truncatingIfNeeded: rest)]
  }
}

/// A header of an archive.
struct RarHeader {
  enum Kind: UInt64 {
    case other = 0
    case main = 1
    case file = 2
    case service = 3
    case encryption = 4
    case end = 5
  }

  /// A record after the fields of a header.
  struct Record {
    let type: UInt64
    let content: [UInt8]

    var packed: [UInt8] {
      let bytes = RarNumbers.packed(type) + content
      return RarNumbers.packed(UInt64(bytes.count)) + bytes
    }
  }

  let type: UInt64
  let flags: UInt64
  /// The fields of this kind of header.
  var own: [UInt8]
  let extra: [UInt8]
  /// The data after the header, as far as the archive has it.
  let dataStart: Int64
  let dataSize: Int64
  /// The size of the data of a whole archive.
  let wholeSize: Int64
  /// Whether the archive is cut off in the data.
  var isCut: Bool { dataSize < wholeSize }

  var kind: Kind { Kind(rawValue: type) ?? .other }

  /// - Parameters:
  ///   - content: The header from its type on.
  ///   - end: The offset behind it.
  ///   - size: The size of the archive.
  init(_ content: [UInt8], endingAt end: Int64, of size: Int64) throws(Fault) {
    var numbers = RarNumbers(content)
    type = try numbers.next()
    flags = try numbers.next()
    let extraSize = flags & 1 != 0 ? try numbers.next() : 0
    let dataSize = flags & 2 != 0 ? try numbers.next() : 0
    guard extraSize <= UInt64(numbers.rest.count), dataSize <= UInt64(Bounds.largestSize) else {
      throw RarNumbers.damaged
    }
    own = Array(numbers.rest.dropLast(Int(extraSize)))
    extra = Array(numbers.rest.suffix(Int(extraSize)))
    dataStart = end
    wholeSize = Int64(dataSize)
    self.dataSize = min(wholeSize, Bounds.size(size - end))
  }

  /// Whether this is the first header of one of several parts.
  var isPart: Bool {
    var numbers = RarNumbers(own)
    return ((try? numbers.next()) ?? 0) & 1 != 0
  }

  var records: [Record] {
    get throws(Fault) {
      var (found, numbers) = ([Record](), RarNumbers(extra))
      while !numbers.rest.isEmpty {
        var content = RarNumbers(try numbers.bytes(numbers.next()))
        found.append(Record(type: try content.next(), content: Array(content.rest)))
      }
      return found
    }
  }

  /// The encryption of a file. Nil if it is not encrypted.
  var encryption: RarEncryption? {
    get throws(Fault) {
      try records.first { $0.type == 1 }.map { (record) throws(Fault) in try RarEncryption(record.content) }
    }
  }

  /// Returns the header with other records and another size of the data. Nil: no data follows.
  func packed(extra: [UInt8], data: Int64?) -> [UInt8] {
    let hasData = flags & 2 != 0 && data != nil
    var content = RarNumbers.packed(type)
    content += RarNumbers.packed(flags & ~3 | (extra.isEmpty ? 0 : 1) | (hasData ? 2 : 0))
    if !extra.isEmpty { content += RarNumbers.packed(UInt64(extra.count)) }
    if hasData { content += RarNumbers.packed(UInt64(Bounds.size(data ?? 0))) }
    content += own + extra
    let sized = RarNumbers.packed(UInt64(content.count)) + content
    return [UInt8](littleEndian: CRC32.of(sized[...])) + sized
  }
}

/// The fields of a file's header.
struct RarFile {
  let size: Int64
  let isStored: Bool
  /// The fields without the checksum.
  let withoutSum: [UInt8]

  private enum Flag {
    static let hasTime: UInt64 = 2
    static let hasSum: UInt64 = 4
    static let hasNoSize: UInt64 = 8
  }

  init(_ own: [UInt8]) throws(Fault) {
    var numbers = RarNumbers(own)
    let flags = try numbers.next()
    let size = try numbers.next()
    let attributes = try numbers.next()
    let time = try numbers.bytes(flags & Flag.hasTime != 0 ? 4 : 0)
    _ = try numbers.bytes(flags & Flag.hasSum != 0 ? 4 : 0)
    let rest = numbers.rest
    self.size = flags & Flag.hasNoSize != 0 ? Bounds.largestSize : Bounds.size(size)
    isStored = try numbers.next() >> 7 & 7 == 0
    withoutSum =
      [flags & ~Flag.hasSum, size, attributes].flatMap { RarNumbers.packed($0) } + time + rest
  }
}

/// Reads the headers of an archive one after the other.
struct RarReader {
  private let bytes: any ByteSource
  /// The offset of the next header.
  private(set) var place = Int64(EncryptedRar.signature.count)
  /// The key of the following headers. Nil if they are not encrypted.
  var key: [UInt8]?

  private static let mostHeader: UInt64 = 2 << 20
  /// A read that contains most headers.
  private static let usualHeader = 512

  init(_ bytes: any ByteSource) { self.bytes = bytes }

  /// Returns the next header. Returns `nil` at the end of the file.
  mutating func next() throws(Fault) -> RarHeader? {
    guard place < bytes.size else { return nil }
    let (start, cipher): (Int64, Cipher?)
    if let key {
      let vector = try bytes.bytes(at: place, count: Cipher.aesBlock)
      (start, cipher) = (place + Int64(Cipher.aesBlock), .chain(key: key, vector: vector))
    } else {
      (start, cipher) = (place, nil)
    }
    let rest = ByteRange(of: bytes, start: start, size: bytes.size - start)
    let source: any ByteSource = cipher.map { DecryptedSource(of: rest, $0, size: rest.size - rest.size % 16) } ?? rest
    var head = try source.bytes(at: 0, atMost: Self.usualHeader)
    var numbers = RarNumbers(head.dropFirst(4))
    let size = try numbers.next()
    guard size <= Self.mostHeader else { throw RarNumbers.damaged }
    let whole = head.count - numbers.rest.count + Int(size)
    if head.count < whole { head = try source.bytes(at: 0, count: whole) }
    let header = head[..<whole]
    guard UInt32(littleEndianBytes: header.prefix(4)) == CRC32.of(header.dropFirst(4)) else {
      throw RarNumbers.damaged
    }
    let stored = cipher == nil ? whole : (whole + Cipher.aesBlock - 1) / Cipher.aesBlock * Cipher.aesBlock
    let end = start + Int64(stored)
    guard end <= bytes.size else { throw RarNumbers.damaged }
    let read = try RarHeader(Array(header.suffix(Int(size))), endingAt: end, of: bytes.size)
    place = end + read.dataSize
    return read
  }
}
