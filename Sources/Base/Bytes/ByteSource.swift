/// Bytes that can be read at any offset: a file, an archive entry, a message part.
///
/// Every view reads a byte source and every file in the tree has one, so views compose. Several threads may read
/// concurrently.
public protocol ByteSource: AnyObject, Sendable {
  /// The size in bytes. Exact if `hasKnownSize`.
  var size: Int64 { get }

  /// Whether the end is known. If the bytes are generated as they are read, the end is known once a reader has reached
  /// it. Until then, `size` is an estimate.
  var hasKnownSize: Bool { get }

  /// Finds the end of the bytes. Throws `Fault.later` if that would block; part of the work may then be done already.
  func findSize(_ blocking: BlockingMode) throws(Fault)

  /// A key for the bytes that is stable across mounts. Nil if nothing identifies them with certainty.
  var identity: ByteIdentity? { get }

  /// Whether the identity is missing only because the bytes were written recently. Opened again later, they have one.
  var isSettling: Bool { get }

  /// Reads bytes from `offset` on into `buffer` and returns the number of bytes read.
  ///
  /// Returns fewer bytes than requested only at the end of the source or, if the end is unknown, if no more are
  /// available yet. Returns 0 only at the end.
  ///
  /// Here and below, `offset` comes from a reader and may have any value (see `Bounds`). Outside the source, 0 bytes
  /// are read.
  ///
  /// Throws `Fault.later` if `blocking` is immediate and the bytes take long to produce.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int

  /// Returns the offset of the next data or hole from `offset` on, like lseek(2) with SEEK_DATA or SEEK_HOLE. The next
  /// hole may be the end. Returns `nil` if there is none.
  func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64?

  /// Returns the extent of a file that contains these bytes unchanged, up to the end of the source. Returns `nil` if
  /// they have to be generated or are not contiguous.
  func extent(at offset: Int64, count: Int) -> Extent?

  /// Throws if the bytes are no longer those that were opened.
  func verify() throws(Fault)

  /// Checks a range that is about to be read by its extent. Must be called before.
  ///
  /// Throws if the range must not be read. Throws `Fault.later` if `blocking` is immediate and the check would block.
  func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault)

  /// Returns the known assurance of a range. Does not read the bytes.
  func assurance(of range: Range<Int64>) -> Assurance

  /// Returns the kind of read-ahead work to do for a reader at `offset`.
  func workAhead(of offset: Int64) -> WorkAhead

  /// Does the read-ahead work for a reader at `offset`. Blocks.
  func prepare(at offset: Int64)
}

extension ByteSource {
  public func extent(at offset: Int64, count: Int) -> Extent? { nil }
  /// Treats all bytes as data, the default.
  public func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? {
    guard offset >= 0, offset < size else { return nil }
    return area == .data ? offset : size
  }
  public var hasKnownSize: Bool { true }
  public func findSize(_ blocking: BlockingMode) throws(Fault) {}
  public func verify() throws(Fault) {}
  public func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) { try verify() }
  public func workAhead(of offset: Int64) -> WorkAhead { .none }
  public func prepare(at offset: Int64) {}

  /// Reads the whole source to find damage. Checksums of the bytes read are verified. Blocks.
  public func readThrough(_ blocking: BlockingMode) throws(Fault) {
    if blocking == .immediate { throw .later }
    let step: Int64 = 256 << 10
    var place: Int64 = 0
    while place < size {
      _ = try bytes(at: place, count: Int(min(step, size - place)), blocking)
      place += step
    }
  }

  /// Fills all of `buffer`. Throws a damaged fault if the source ends early.
  public func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) {
    let got = unsafe try read(into: buffer, at: offset, blocking)
    guard got == buffer.count else {
      throw Fault(.damaged, "expected \(buffer.count) bytes, found \(got)", atByte: offset)
    }
  }

  /// Returns all bytes of a range. Throws a damaged fault if the source ends early.
  ///
  /// A cancellation point: throws an interrupted fault if the thread's work is no longer wanted.
  public func bytes(at offset: Int64, count: Int, _ blocking: BlockingMode = .blocking) throws(Fault) -> [UInt8] {
    try CancellationToken.check()
    let bytes = try bytes(at: offset, atMost: count, blocking)
    guard bytes.count == count else {
      throw Fault(.damaged, "expected \(count) bytes, found \(bytes.count)", atByte: offset)
    }
    return bytes
  }

  /// Returns up to `count` bytes, fewer if the source ends earlier.
  public func bytes(at offset: Int64, atMost count: Int, _ blocking: BlockingMode = .blocking) throws(Fault) -> [UInt8]
  {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        initialized = unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset, blocking)
      } catch { fault = error }
    }
    if let fault { throw fault }
    return bytes
  }
}

/// The kinds of region of a sparse file.
public enum Area: Sendable {
  case data
  /// A region without stored bytes. It reads as zeros.
  case hole
}

/// Work that a source can do ahead of a read.
public enum WorkAhead: Sendable {
  case none
  /// Takes microseconds. Best done immediately, on the thread that has just replied.
  case short
  /// Takes longer and is done by a worker thread.
  case long
}

/// An owner of a descriptor, which is open while `body` runs.
public protocol DescriptorHolder: AnyObject, Sendable {
  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result
}

/// A contiguous range of a file.
public struct Extent: Sendable {
  public let holder: any DescriptorHolder
  public let offset: Int64
  public let count: Int
  /// Whether a read can fail behind its first bytes, because the file is on another machine or served by another program.
  public let mayFail: Bool

  public init(holder: any DescriptorHolder, offset: Int64, count: Int, mayFail: Bool = false) {
    self.holder = holder
    self.offset = offset
    self.count = count
    self.mayFail = mayFail
  }
}

/// A range of another source.
public final class ByteRange: ByteSource {
  private let source: any ByteSource
  private let start: Int64
  public let size: Int64

  /// Creates a source of a range. `start` and `size` must lie within `source`: the caller checks this, and each read
  /// does again. Both are clamped to `Bounds`, because offsets are added to them.
  public init(of source: any ByteSource, start: Int64, size: Int64) {
    self.source = source
    self.start = Bounds.size(start)
    self.size = Bounds.size(size)
  }

  /// Returns the source's offset for an offset in the range, which is clamped to the range.
  private func place(_ offset: Int64) -> Int64 { start + min(max(0, offset), size) }

  public var isSettling: Bool { source.isSettling }

  public var identity: ByteIdentity? {
    source.identity?.adding(.range, UInt64(bitPattern: start), UInt64(bitPattern: size))
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    unsafe try source.fill(part, at: start + offset, blocking)
    return wanted
  }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    guard offset >= 0, offset < size else { return nil }
    return source.extent(at: start + offset, count: Int(min(Int64(count), size - offset)))
  }

  public func verify() throws(Fault) { try source.verify() }
  public func assurance(of range: Range<Int64>) -> Assurance {
    source.assurance(of: place(range.lowerBound)..<place(range.upperBound))
  }
  public func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    try source.willMove(at: place(offset), count: count, blocking)
  }
  public func workAhead(of offset: Int64) -> WorkAhead { source.workAhead(of: place(offset)) }
  public func prepare(at offset: Int64) { source.prepare(at: place(offset)) }
}

/// Bytes in memory.
public final class ByteArraySource: ByteSource {
  private let bytes: [UInt8]
  public var size: Int64 { Int64(bytes.count) }

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = min(buffer.count, bytes.count - Int(offset))
    unsafe buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + wanted])
    return wanted
  }
}
