public import Bytes
internal import Text

/// The serialized form of rows in an index: varints of seven bits per byte, length-prefixed strings, a checksum at the
/// end.
extension MessageRow {
  /// Appends the packed row, usually about 125 bytes.
  public func append(to bytes: inout [UInt8]) {
    let first = bytes.count
    var packer = RowPacker(bytes: bytes)
    bytes = []
    packer.add(UInt64(bitPattern: separator))
    packer.add(UInt64(bitPattern: start &- separator))
    packer.add(UInt64(bitPattern: end &- start))
    packer.add(check: sum)
    let flags: [Bool] = [date != nil, messageID != nil, thread != nil, isDeleted]
    packer.add(flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt64($1.offset) : 0) })
    if let date { packer.add(signed: date) }
    packer.add(signed: Int64(zone))
    if let messageID { packer.add(word: messageID) }
    if let thread { packer.add(thread) }
    for text in [sender, address, subject] { packer.add(text) }
    packer.add(UInt64(references.count))
    for reference in references { packer.add(word: reference) }
    packer.add(UInt64(labels.count))
    for label in labels { packer.add(label) }
    packer.add(check: MessageRow.check(packer.bytes[first...]))
    bytes = packer.bytes
  }

  /// Reads a packed row. Throws a damaged fault for anything that `append` does not write: all values are bounded
  /// (`Bounds`).
  @_lifetime(reader: copy reader)
  public init(reading reader: inout ByteReader) throws(Fault) {
    let first = reader.position
    let separator = try reader.packedOffset(after: 0)
    let start = try reader.packedOffset(after: separator)
    self.init(separator: separator, start: start, end: try reader.packedOffset(after: start))
    sum = try reader.u32()
    let flags = try reader.packed()
    guard flags < 16 else { throw reader.damaged("flags") }
    if flags & 1 != 0 { date = try reader.packedSigned() }
    guard let zone = Int(exactly: try reader.packedSigned()), (-(1 << 20)...1 << 20).contains(zone) else {
      throw reader.damaged("a zone")
    }
    self.zone = zone
    if flags & 2 != 0 { messageID = try reader.u64() }
    if flags & 4 != 0 { thread = try reader.packed() }
    isDeleted = flags & 8 != 0
    sender = try reader.packedText()
    address = try reader.packedText()
    subject = try reader.packedText()
    for _ in 0..<(try reader.packedCount()) { references.append(try reader.u64()) }
    for _ in 0..<(try reader.packedCount()) { labels.append(try reader.packedText()) }
    let check = MessageRow.check(reader.bytes.extracting(first..<reader.position))
    guard try reader.u32() == check else { throw reader.damaged("a row's check") }
  }

  private static func check(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    let span = bytes.span
    return unsafe check(span.bytes)
  }

  private static func check(_ bytes: RawSpan) -> UInt32 {
    var hash = StableHash()
    hash.combine(bytes)
    return UInt32(truncatingIfNeeded: hash.value)
  }
}

private struct RowPacker {
  var bytes: [UInt8]

  mutating func add(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Zigzag encoding: small numbers of either sign take few bytes.
  mutating func add(signed value: Int64) { add(UInt64(bitPattern: value << 1 ^ value >> 63)) }

  mutating func add(word: UInt64) { bytes.append(littleEndian: word) }

  mutating func add(check: UInt32) { bytes.append(littleEndian: check) }

  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}

extension ByteReader {
  fileprivate func damaged(_ what: String) -> Fault {
    Fault(.damaged, "expected \(what) of a packed message", atByte: sourceOffset)
  }

  @_lifetime(self: copy self)
  fileprivate mutating func packed() throws(Fault) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let byte = try u8()
      let part = UInt64(byte & 0x7f)
      guard shift < 63 || part <= 1 else { break }
      value |= part << shift
      if byte < 0x80 { return value }
    }
    throw damaged("a number")
  }

  @_lifetime(self: copy self)
  fileprivate mutating func packedSigned() throws(Fault) -> Int64 {
    let value = try packed()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// Reads an offset recorded as the distance from `other`.
  @_lifetime(self: copy self)
  fileprivate mutating func packedOffset(after other: Int64) throws(Fault) -> Int64 {
    guard let distance = Int64(exactly: try packed()), Bounds.holds(distance), Bounds.holds(other + distance) else {
      throw damaged("an offset")
    }
    return other + distance
  }

  @_lifetime(self: copy self)
  fileprivate mutating func packedCount() throws(Fault) -> Int {
    guard let count = Int(exactly: try packed()), count <= MessageRow.listLimit else { throw damaged("a count") }
    return count
  }

  @_lifetime(self: copy self)
  fileprivate mutating func packedText() throws(Fault) -> String {
    guard let count = Int(exactly: try packed()), count <= MessageRow.textLimit, let text = try slice(count).validText
    else { throw damaged("a text") }
    return text
  }
}
