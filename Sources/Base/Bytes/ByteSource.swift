/// Bytes that can be read at any offset: a file, an entry of an archive, a part of a mail.
///
/// Every view takes one and every file of the tree gives one, so views compose. Reads from several threads at a time
/// are right.
public protocol ByteSource: AnyObject, Sendable {
  /// In bytes; exact if `hasKnownSize`.
  var size: Int64 { get }

  /// Whether it is known where the bytes end. Of what is made as it is read, it is when somebody has come there; until then
  /// `size` is a guess.
  var hasKnownSize: Bool { get }

  /// Finds out where the bytes end. Throws `Fault.later` when that takes long, though some of it may be done then.
  func findSize(_ patience: Patience) throws(Fault)

  /// Names the bytes from one mount to the next; nil where nothing does for sure.
  var identity: ByteIdentity? { get }

  /// Fills `buffer` from `offset` on and gives the bytes written: fewer than asked only at the end of the source.
  ///
  /// A door: `offset`, here and below, is what a reader says, and any number is right. Outside of the source lies nothing.
  ///
  /// Throws `Fault.later` when `patience` is immediate and the bytes take long to make.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int

  /// Where the next data lies from `offset` on, or the next hole, which may be the end: as lseek(2) has it with SEEK_DATA and
  /// SEEK_HOLE. nil: nowhere.
  func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64?

  /// Where these bytes, but for those behind the end, lie in a file as they are; nil when they have to be made, or do not lie
  /// in one piece.
  func extent(at offset: Int64, count: Int) -> Extent?

  /// Throws when the bytes are not those that were opened any more.
  func verify() throws(Fault)

  /// Must be called before a range is read by its extent; throws when it should not be, and `Fault.later` when `patience` is
  /// immediate and to find that out takes long.
  func willMove(at offset: Int64, count: Int, _ patience: Patience) throws(Fault)

  /// What there is to make ready now that a reader has come to `offset`.
  func workAhead(of offset: Int64) -> WorkAhead

  /// Does that work. Blocks.
  func prepare(at offset: Int64)
}

extension ByteSource {
  public func extent(at offset: Int64, count: Int) -> Extent? { nil }
  /// All is data.
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

  /// Reads all of it, to find what is wrong with it: of what takes a sum of what is read, whether that is right. Blocks.
  public func readThrough(_ patience: Patience) throws(Fault) {
    if patience == .immediate { throw .later }
    let step: Int64 = 256 << 10
    var place: Int64 = 0
    while place < size {
      _ = try bytes(at: place, count: Int(min(step, size - place)), patience)
      place += step
    }
  }

  /// Fills all of `buffer`. Throws a damaged fault when the source ends before.
  public func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) {
    let got = unsafe try read(into: buffer, at: offset, patience)
    guard got == buffer.count else {
      throw Fault(.damaged, "expected \(buffer.count) bytes, found \(got)", atByte: offset)
    }
  }

  /// The bytes of a range, all of them. Throws a damaged fault when the source ends before.
  ///
  /// A step of much that takes long: throws an interrupted fault when nobody waits for this thread any more.
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

/// What a stretch of a sparse file is.
public enum Area: Sendable {
  case data
  /// Nothing is stored: it reads as zeros.
  case hole
}

/// Work that a source can do before it is asked for.
public enum WorkAhead: Sendable {
  case none
  /// Some microseconds: best done at once, by the thread that has just answered.
  case short
  /// Longer: for a worker.
  case long
}

/// A descriptor that is open while `body` runs.
public protocol DescriptorHolder: AnyObject, Sendable {
  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result
}

/// A stretch of a file.
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

  /// `start` and `size` must lie within `source`: checked by the caller, and again by each read. A door: they are added to.
  public init(of source: any ByteSource, start: Int64, size: Int64) {
    self.source = source
    self.start = Bounds.size(start)
    self.size = Bounds.size(size)
  }

  /// Where an offset within the range, or at one of its ends, lies in the source.
  private func place(_ offset: Int64) -> Int64 { start + min(max(0, offset), size) }

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
