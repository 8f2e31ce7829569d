/// A borrowed cursor over bytes that reads little-endian integers and slices. Every access is checked.
public struct ByteReader: ~Escapable {
  public let bytes: RawSpan
  public private(set) var position: Int = 0
  /// The offset of the first byte in the source, for faults.
  private let origin: Int64

  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan, originByte origin: Int64 = 0) {
    self.bytes = bytes
    self.origin = origin
  }

  public var remaining: Int { bytes.byteCount - position }
  /// The cursor's offset in the source.
  public var sourceOffset: Int64 { origin + Int64(position) }

  @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) throws(Fault) {
    guard count >= 0, count <= remaining else { throw short(count) }
    position += count
  }

  @_lifetime(self: copy self)
  public mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type) throws(Fault) -> Value {
    let width = MemoryLayout<Value>.size
    guard width <= remaining else { throw short(width) }
    // Any bit pattern is a value of a fixed-width integer.
    let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Value.self)
    position += width
    return Value(littleEndian: value)
  }

  @_lifetime(self: copy self)
  public mutating func u8() throws(Fault) -> UInt8 { try integer(UInt8.self) }
  @_lifetime(self: copy self)
  public mutating func u16() throws(Fault) -> UInt16 { try integer(UInt16.self) }
  @_lifetime(self: copy self)
  public mutating func u32() throws(Fault) -> UInt32 { try integer(UInt32.self) }
  @_lifetime(self: copy self)
  public mutating func u64() throws(Fault) -> UInt64 { try integer(UInt64.self) }

  /// Reads the next `count` bytes.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func slice(_ count: Int) throws(Fault) -> RawSpan {
    guard count >= 0, count <= remaining else { throw short(count) }
    let slice = bytes.extracting(position..<position + count)
    position += count
    return slice
  }

  private func short(_ count: Int) -> Fault {
    Fault(.damaged, "expected \(count) more bytes, found \(remaining)", atByte: sourceOffset)
  }
}

extension RawSpan {
  /// Returns the byte at `offset`. Traps if `offset` is out of bounds.
  @inlinable
  public func byte(at offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// A copy of the bytes.
  public var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
