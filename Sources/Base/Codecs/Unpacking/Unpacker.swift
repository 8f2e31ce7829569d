internal import Bytes

/// A decoder of a compressed file, which consists of one or more parts: gzip or lzip members, frames, blocks. It starts
/// at a restart point.
///
/// Not thread-safe, but may move between threads from call to call.
protocol Unpacker: AnyObject {
  /// Takes one step: writes some of the next bytes to `buffer`, perhaps none, but never beyond the end of the current
  /// part. Throws the fault of the next byte after all bytes before it have been returned.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int

  /// Whether everything has been decoded.
  var isAtEnd: Bool { get }

  /// Whether a part has just ended. Decoding can be resumed here without the preceding bytes.
  var isBetweenParts: Bool { get }

  /// The fault of the part that has just ended, if it does not match its checksum. Nil if it does.
  var partFault: Fault? { get }

  /// Whether the last error was the file's end within a part.
  var isCut: Bool { get }

  /// Returns the restart point of the next byte, which is at `output`. Returns `nil` if decoding cannot be resumed
  /// there.
  func place(at output: Int64) -> FileRestartPoint?
}

extension Unpacker {
  var partFault: Fault? { nil }
  var isCut: Bool { false }
}

/// A restart point in a compressed file: a position from which it can be decoded. Within a gzip member, it includes the
/// image of a `DeflateRestartPoint`.
struct FileRestartPoint: Sendable {
  /// The offset of the next decoded byte.
  var output: Int64
  /// The offset of the next compressed byte. For bzip2, in bits.
  var input: Int64
  /// The decoder state within a part. Nil between parts.
  var inflation: Inflation?

  /// The decoder state in the middle of a gzip member.
  struct Inflation: Sendable {
    /// The image of a `DeflateRestartPoint`. It takes a third of the point's memory.
    var image: [UInt8]
    /// The CRC-32 of the member's output so far.
    var crc: UInt32
    var size: Int64
  }

  /// The memory that the point takes, in bytes.
  var cost: Int { 64 + (inflation?.image.count ?? 0) }

  static let start = FileRestartPoint(output: 0, input: 0)
}

extension FileRestartPoint {
  /// The serialized form, for other processes.
  var image: [UInt8] {
    guard let inflation else { return [UInt8](littleEndian: UInt64(bitPattern: input)) }
    return [UInt8](littleEndian: [UInt64(bitPattern: input), UInt64(inflation.crc), UInt64(bitPattern: inflation.size)])
      + inflation.image
  }

  /// Restores a restart point. Returns `nil` if `image` is malformed.
  init?(output: Int64, image: [UInt8]) {
    guard image.count >= 8 else { return nil }
    self.output = output
    input = Int64(bitPattern: UInt64(littleEndianBytes: image[..<8]))
    guard Bounds.holds(input), Bounds.holds(output) else { return nil }
    guard image.count > 8 else { return }
    guard image.count > 24 else { return nil }
    let point = Array(image[24...])
    guard DeflateRestartPoint(image: point) != nil else { return nil }
    let size = Int64(bitPattern: UInt64(littleEndianBytes: image[16..<24]))
    guard Bounds.holds(size) else { return nil }
    inflation = Inflation(image: point, crc: UInt32(littleEndianBytes: image[8..<12]), size: size)
  }
}

/// A buffered reader of a compressed file's bytes, with its position.
///
/// Not thread-safe.
@safe final class PackedInput {
  private let source: any ByteSource
  private let memory: UnsafeMutableRawBufferPointer
  private var filled: Range<Int64>
  /// The offset of the next byte.
  private(set) var offset: Int64

  private static let size = 128 << 10

  init(_ source: any ByteSource, at offset: Int64) {
    self.source = source
    self.offset = offset
    filled = offset..<offset
    unsafe memory = .allocate(byteCount: Self.size, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// Calls `body` with the next bytes: at least `count`, unless the file ends before. `body` returns the number of
  /// consumed bytes.
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

  /// Returns bytes at a distance from the current offset without consuming them. Returns fewer at the end.
  func peek(_ count: Int, at distance: Int64 = 0) throws(Fault) -> [UInt8] {
    let here = offset
    offset += distance
    defer { offset = here }
    return unsafe try withBytes(atLeast: count) { bytes in unsafe (0, Array(bytes.prefix(count))) }
  }

  func skip(_ count: Int64) { offset += count }
}
