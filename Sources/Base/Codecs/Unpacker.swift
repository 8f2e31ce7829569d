internal import Bytes

/// Decodes a compressed file from a place on.
///
/// Not thread-safe, but may move between threads from call to call.
protocol Unpacker: AnyObject {
  /// Takes one step: writes some of the next bytes to `buffer`, perhaps none, but none of the part after the one that
  /// ends here. Throws what keeps the next byte from being decoded; those before it were returned.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int

  /// Whether there is nothing more.
  var isAtEnd: Bool { get }

  /// Whether a part has just ended: there decoding can be resumed without what precedes.
  var isBetweenParts: Bool { get }

  /// The fault of the part that has just ended: it does not agree with its checksum. Nil if it does.
  var partFault: Fault? { get }

  /// Whether the last error was that the file ends within a part.
  var isCut: Bool { get }

  /// Where decoding can be resumed for the next byte, which is at `output`; nil if it cannot.
  func place(at output: Int64) -> UnpackingPlace?
}

extension Unpacker {
  var partFault: Fault? { nil }
  var isCut: Bool { false }
}

/// A place in a compressed file from which on it can be decoded.
struct UnpackingPlace: Sendable {
  /// Of the next decoded byte.
  var output: Int64
  /// Of the next compressed byte; for bzip2, bit.
  var input: Int64
  /// Within a part.
  var inflation: Inflation?

  /// The middle of a gzip member.
  struct Inflation: Sendable {
    /// Of a restart point, as it is stored: it takes a third of the point's memory.
    var image: [UInt8]
    /// Of the member so far.
    var crc: UInt32
    var size: Int64
  }

  /// The memory that it takes, in bytes.
  var cost: Int { 64 + (inflation?.image.count ?? 0) }

  static let start = UnpackingPlace(output: 0, input: 0)
}

extension UnpackingPlace {
  /// In serialized form, for other processes.
  var image: [UInt8] {
    guard let inflation else { return [UInt8](littleEndian: UInt64(bitPattern: input)) }
    return [UInt8](littleEndian: [UInt64(bitPattern: input), UInt64(inflation.crc), UInt64(bitPattern: inflation.size)])
      + inflation.image
  }

  /// nil if `image` is malformed.
  init?(output: Int64, image: [UInt8]) {
    guard image.count >= 8 else { return nil }
    self.output = output
    input = Int64(bitPattern: UInt64(littleEndianBytes: image[..<8]))
    guard Bounds.holds(input), Bounds.holds(output) else { return nil }
    guard image.count > 8 else { return }
    guard image.count > 24 else { return nil }
    let point = Array(image[24...])
    guard RestartPoint(image: point) != nil else { return nil }
    let size = Int64(bitPattern: UInt64(littleEndianBytes: image[16..<24]))
    guard Bounds.holds(size) else { return nil }
    inflation = Inflation(image: point, crc: UInt32(littleEndianBytes: image[8..<12]), size: size)
  }
}

/// The compressed bytes of a file that is decoded front to back.
///
/// Not thread-safe.
@safe final class PackedInput {
  private let source: any ByteSource
  private let memory: UnsafeMutableRawBufferPointer
  private var filled: Range<Int64>
  /// Of the next byte.
  private(set) var offset: Int64

  private static let size = 128 << 10

  init(_ source: any ByteSource, at offset: Int64) {
    self.source = source
    self.offset = offset
    filled = offset..<offset
    unsafe memory = .allocate(byteCount: Self.size, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// Calls `body` with the next bytes, at least `count` unless the file ends before; it returns how many it has used.
  func withBytes<Result>(
    atLeast count: Int = 1, _ body: (UnsafeRawBufferPointer) throws(Fault) -> (Int, Result)
  ) throws(Fault) -> Result {
    if offset < filled.lowerBound || filled.upperBound - offset < Int64(count) {
      filled = offset..<offset
      filled = unsafe offset..<offset + Int64(try source.read(into: memory, at: offset, .blocking))
    }
    let start = Int(offset - filled.lowerBound)
    let (used, result) = unsafe try body(UnsafeRawBufferPointer(rebasing: memory[start..<filled.count]))
    offset += Int64(used)
    return result
  }

  /// The next bytes, not yet used, from a distance on; fewer at the end.
  func peek(_ count: Int, at distance: Int64 = 0) throws(Fault) -> [UInt8] {
    let here = offset
    offset += distance
    defer { offset = here }
    return unsafe try withBytes(atLeast: count) { bytes in unsafe (0, Array(bytes.prefix(count))) }
  }

  func skip(_ count: Int64) { offset += count }
}
