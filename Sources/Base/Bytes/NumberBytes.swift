// Conversions of numbers to and from bytes in files, messages and keys.
//
// Little-endian, the lowest byte is first. Big-endian, the highest byte is first, so that bytewise order is numeric
// order.

extension [UInt8] {
  /// Encodes the lowest `count` bytes of a number, by default all.
  @inlinable
  public init<Number: FixedWidthInteger>(littleEndian number: Number, count: Int = Number.bitWidth / 8) {
    self = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Encodes the lowest `count` bytes of a number, by default all.
  @inlinable
  public init<Number: FixedWidthInteger>(bigEndian number: Number, count: Int = Number.bitWidth / 8) {
    self = (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Encodes consecutive 64-bit words.
  @inlinable
  public init(littleEndian words: [UInt64]) {
    self = []
    reserveCapacity(8 * words.count)
    for word in words { append(littleEndian: word) }
  }

  /// Encodes consecutive 64-bit words.
  @inlinable
  public init(bigEndian words: [UInt64]) {
    self = []
    reserveCapacity(8 * words.count)
    for word in words { append(littleEndian: word.byteSwapped) }
  }

  /// Appends all bytes of a number.
  @inlinable
  public mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
  }
}

extension FixedWidthInteger {
  /// Decodes a number. If there are too few bytes, they are the lowest ones. Excess bytes are ignored.
  @inlinable
  public init(littleEndianBytes bytes: some Sequence<UInt8>) {
    self = 0
    var shift = 0
    for byte in bytes.prefix(Self.bitWidth / 8) {
      self |= Self(truncatingIfNeeded: byte) << shift
      shift += 8
    }
  }

  /// Decodes a number. If there are too few bytes, they are the lowest ones. Excess bytes are ignored.
  @inlinable
  public init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = bytes.prefix(Self.bitWidth / 8).reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }
}
