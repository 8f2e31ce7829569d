internal import Bytes

/// A header block of a TAR archive: v7, ustar (POSIX.1-1988) or GNU.
struct TarHeader {
  /// The size of a header, in bytes. All data is padded to a multiple of it.
  static let size = 512

  private let block: ArraySlice<UInt8>

  private enum Style { case v7, ustar, gnu }

  /// Parses a block. Returns `nil` if its checksum does not match. The checksum is the sum of bytes, which some
  /// programs treat as signed.
  init?(_ block: ArraySlice<UInt8>) {
    guard block.count == Self.size, block[block.startIndex] != 0 || block.contains(where: { $0 != 0 }) else {
      return nil
    }
    self.block = block
    guard let recorded = Self.number(field(148, 8)) else { return nil }
    var (unsigned, negative): (Int, Int) = (0, 0)
    unsafe block.withUnsafeBytes { bytes in
      for place in 0..<bytes.count {
        let byte = unsafe bytes[place]
        unsigned += Int(byte)
        negative += Int(byte >> 7)
      }
    }
    // The checksum itself counts as spaces.
    for byte in field(148, 8) {
      unsigned += 0x20 - Int(byte)
      negative -= Int(byte >> 7)
    }
    guard recorded == unsigned || recorded == unsigned - 256 * negative else { return nil }
  }

  /// Whether the header has a format's signature. A checksum alone can match by chance.
  var hasMagic: Bool { style != .v7 }

  /// Whether a header without a signature is plausible: it has a name, a type and well-formed numbers.
  var looksRight: Bool {
    guard let first = path.first, first >= 0x20, dataSize != nil else { return false }
    // GNU tar's labels have no mode.
    if type == UInt8(ascii: "V") { return dataSize == 0 && modified > 0 }
    if type == Self.continuation { return offset > 0 && dataSize ?? 0 > 0 }
    return (type == 0 || (0x30...0x37).contains(type)) && field(100, 8).contains { (0x30...0x37).contains($0) }
  }

  private var style: Style {
    let magic = field(257, 8)
    if magic.elementsEqual("ustar  \0".utf8) { return .gnu }
    return magic.prefix(5).elementsEqual("ustar".utf8) ? .ustar : .v7
  }

  private func field(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> {
    block[(block.startIndex + offset)...].prefix(count)
  }

  private func text(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> { field(offset, count).prefix { $0 != 0 } }

  var type: UInt8 { block[block.startIndex + 156] }
  var mode: UInt16 { UInt16(truncatingIfNeeded: Self.number(field(100, 8)) ?? 0) }
  /// The size of the data, in bytes. Nil if the field is not a number.
  var dataSize: Int64? { Self.number(field(124, 12)).flatMap { Bounds.holds($0) ? $0 : nil } }
  /// The modification time, in seconds since 1970.
  var modified: Int64 { Self.number(field(136, 12)) ?? 0 }
  var linkTarget: ArraySlice<UInt8> { text(157, 100) }
  /// The type of GNU tar's header of a file that continues from another volume.
  static let continuation = UInt8(ascii: "M")
  /// The offset in such a file at which its data continues, in bytes. 0 if it is not valid.
  var offset: Int64 { Self.number(field(369, 12)).flatMap { Bounds.holds($0) ? $0 : nil } ?? 0 }
  var device: (major: Int64, minor: Int64) {
    style == .v7 ? (0, 0) : (Self.number(field(329, 8)) ?? 0, Self.number(field(337, 8)) ?? 0)
  }

  var path: ArraySlice<UInt8> {
    let name = text(0, 100)
    guard style == .ustar else { return name }
    // Joerg Schilling's tar ends the block with its own signature and has a shorter prefix.
    let prefix = text(345, field(508, 4).elementsEqual("tar\0".utf8) ? 131 : 155)
    return prefix.isEmpty ? name : prefix + [0x2f] + name
  }

  // MARK: Sparse files of old GNU archives

  /// The recorded areas of data.
  var sparseAreas: [TarSparseMap.Area] { Self.areas(field(386, 96)) }
  /// Whether a block with more areas follows.
  var isContinued: Bool { block[block.startIndex + 482] != 0 }
  /// The size of the file including its holes, in bytes.
  var sparseSize: Int64? { Self.number(field(483, 12)).flatMap { Bounds.holds($0) ? $0 : nil } }

  /// Returns the areas in a block that continues a header, and whether another one follows.
  static func continuation(_ block: ArraySlice<UInt8>) -> (areas: [TarSparseMap.Area], isContinued: Bool) {
    (areas(block.prefix(504)), block[block.startIndex + 504] != 0)
  }

  private static func areas(_ bytes: ArraySlice<UInt8>) -> [TarSparseMap.Area] {
    stride(from: bytes.startIndex, to: bytes.endIndex, by: 24).compactMap { start in
      guard bytes[start] != 0, let offset = number(bytes[start...].prefix(12)),
        let count = number(bytes[(start + 12)...].prefix(12))
      else { return nil }
      return TarSparseMap.Area(offset: offset, count: count)
    }
  }

  // MARK: Numbers

  /// Parses octal digits between spaces, or GNU's base 256, whose first bit is set. An empty field is 0. Returns `nil`
  /// if the field is neither or the number is too large.
  static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    guard let first = field.first else { return nil }
    if first & 0x80 != 0 {
      let isNegative = first & 0x40 != 0
      var value: Int64 = isNegative ? -1 : 0
      for (place, byte) in field.enumerated() {
        let digit = place == 0 ? byte & 0x7f | (isNegative ? 0x80 : 0) : byte
        let (shifted, isOver) = value.multipliedReportingOverflow(by: 256)
        if isOver { return nil }
        value = shifted | Int64(digit)
      }
      return value
    }
    var value: Int64 = 0
    var digits = field.drop { $0 == 0x20 }[...]
    while let digit = digits.first, (0x30...0x37).contains(digit) {
      let (shifted, isOver) = value.multipliedReportingOverflow(by: 8)
      if isOver { return nil }
      value = shifted + Int64(digit - 0x30)
      digits = digits.dropFirst()
    }
    return digits.allSatisfy { $0 == 0x20 || $0 == 0 } || digits.first == 0 || digits.first == 0x20 ? value : nil
  }
}
