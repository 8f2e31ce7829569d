/// Bytes that can be read at any offset: a file, an entry of an archive, a part of a mail.
///
/// Every view takes one and every file of the tree has one, so views compose. Safe to read from several threads at
/// once.
public protocol ByteSource: AnyObject, Sendable {
  /// In bytes; exact if `hasKnownSize`.
  var size: Int64 { get }

  /// Whether the end is known. The end of bytes that are generated as they are read is known once a reader has reached
  /// it; until then `size` is an estimate.
  var hasKnownSize: Bool { get }

  /// Finds the end of the bytes. Throws `Fault.later` when that takes long; some of the work may have been done by
  /// then.
  func findSize(_ patience: Patience) throws(Fault)

  /// A key for the bytes that is stable across mounts; nil if nothing identifies them with certainty.
  var identity: ByteIdentity? { get }

  /// Whether there is no identity only because the bytes were written a moment ago: opened again, they have one.
  var isSettling: Bool { get }

  /// Fills `buffer` from `offset` on and returns the number of bytes written: fewer than asked only at the end of the
  /// source, and where the end is not known, when there is no more by now; none only at the end.
  ///
  /// An entry point for numbers (`Bounds`): `offset`, here and below, comes from a reader and may have any value. There
  /// are no bytes outside the source.
  ///
  /// Throws `Fault.later` when `patience` is immediate and the bytes take long to make.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int

  /// The offset of the next data, or of the next hole, which may be the end, from `offset` on, as lseek(2) has it with
  /// SEEK_DATA and SEEK_HOLE; nil if there is none.
  func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64?

  /// The extent of a file that holds these bytes, as far as they are before the end, unchanged; nil if they have to be
  /// generated or are not contiguous.
  func extent(at offset: Int64, count: Int) -> Extent?

  /// Throws when the bytes are no longer those that were opened.
  func verify() throws(Fault)

  /// Must be called before a range is read by its extent; throws when it must not be read, and `Fault.later` when
  /// `patience` is immediate and checking takes long.
  func willMove(at offset: Int64, count: Int, _ patience: Patience) throws(Fault)

  /// The assurance of a range, as far as it is known. Does not read the bytes.
  func assurance(of range: Range<Int64>) -> Assurance

  /// The read-ahead work to do now that a reader is at `offset`.
  func workAhead(of offset: Int64) -> WorkAhead

  /// Does that work. Blocks.
  func prepare(at offset: Int64)
}

extension ByteSource {
  public func extent(at offset: Int64, count: Int) -> Extent? { nil }
  /// By default everything is data.
  public func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? {
    guard offset >= 0, offset < size else { return nil }
    return area == .data ? offset : size
  }
  public var hasKnownSize: Bool { true }
  public func findSize(_ patience: Patience) throws(Fault) {}
  public func verify() throws(Fault) {}
  public func willMove(at offset: Int64, count: Int, _ patience: Patience) throws(Fault) { try verify() }
  public func workAhead(of offset: Int64) -> WorkAhead { .none }
  public func prepare(at offset: Int64) {}

  /// Reads the whole source to find damage: checksums of what is read are verified. Blocks.
  public func readThrough(_ patience: Patience) throws(Fault) {
    if patience == .immediate { throw .later }
    let step: Int64 = 256 << 10
    var place: Int64 = 0
    while place < size {
      _ = try bytes(at: place, count: Int(min(step, size - place)), patience)
      place += step
    }
  }

  /// Fills all of `buffer`. Throws a damaged fault when the source ends early.
  public func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) {
    let got = unsafe try read(into: buffer, at: offset, patience)
    guard got == buffer.count else {
      throw Fault(.damaged, "expected \(buffer.count) bytes, found \(got)", atByte: offset)
    }
  }

  /// All bytes of a range. Throws a damaged fault when the source ends early.
  ///
  /// One step of work that takes long: throws an interrupted fault when the thread's work is no longer wanted.
  public func bytes(at offset: Int64, count: Int, _ patience: Patience = .blocking) throws(Fault) -> [UInt8] {
    try Interest.check()
    var outcome = Result<Int, Fault>.success(0)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        let got = unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset, patience)
        outcome = .success(got)
        initialized = got
      } catch { outcome = .failure(error) }
    }
    let got = try outcome.get()
    guard got == count else {
      throw Fault(.damaged, "expected \(count) bytes, found \(got)", atByte: offset)
    }
    return bytes
  }
}

/// The kinds of region of a sparse file.
public enum Area: Sendable {
  case data
  /// Nothing is stored: it reads as zeros.
  case hole
}

/// Work that a source can do ahead of a read.
public enum WorkAhead: Sendable {
  case none
  /// Some microseconds: best done at once, on the thread that has just replied.
  case short
  /// Longer: for a worker.
  case long
}

/// A descriptor that is open while `body` runs.
public protocol DescriptorHolder: AnyObject, Sendable {
  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result
}

/// A contiguous range of a file.
public struct Extent: Sendable {
  public let holder: any DescriptorHolder
  public let offset: Int64
  public let count: Int

  public init(holder: any DescriptorHolder, offset: Int64, count: Int) {
    self.holder = holder
    self.offset = offset
    self.count = count
  }
}

/// A range of another source.
public final class ByteRange: ByteSource {
  private let source: any ByteSource
  private let start: Int64
  public let size: Int64

  /// `start` and `size` must lie within `source`: checked by the caller, and again by each read. Bounded here
  /// (`Bounds`), as offsets are added to them.
  public init(of source: any ByteSource, start: Int64, size: Int64) {
    self.source = source
    self.start = Bounds.size(start)
    self.size = Bounds.size(size)
  }

  /// The offset in the source of an offset within the range or at one of its ends.
  private func place(_ offset: Int64) -> Int64 { start + min(max(0, offset), size) }

  public var isSettling: Bool { source.isSettling }

  public var identity: ByteIdentity? {
    source.identity?.adding(.range, UInt64(bitPattern: start), UInt64(bitPattern: size))
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    unsafe try source.fill(part, at: start + offset, patience)
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
  public func willMove(at offset: Int64, count: Int, _ patience: Patience) throws(Fault) {
    try source.willMove(at: place(offset), count: count, patience)
  }
  public func workAhead(of offset: Int64) -> WorkAhead { source.workAhead(of: place(offset)) }
  public func prepare(at offset: Int64) { source.prepare(at: place(offset)) }
}

/// Bytes in memory.
public final class ByteArraySource: ByteSource {
  private let bytes: [UInt8]
  public var size: Int64 { Int64(bytes.count) }

  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = min(buffer.count, bytes.count - Int(offset))
    unsafe buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + wanted])
    return wanted
  }
}
