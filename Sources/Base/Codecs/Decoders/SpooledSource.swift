public import Bytes
internal import Locks
internal import Threads

/// The output of a compressed stream that can only be decoded sequentially, at any offset.
///
/// Decoded bytes are kept in a spool, so that reading them again needs no decoding. Without space for a spool, blocks
/// are cached in memory, and evicted ones are decoded again from the start.
public final class SpooledSource: ByteSource {
  public let size: Int64
  private let compressed: any ByteSource
  private let compression: Compression
  private let crc: UInt32?
  private let stretches: BlockTable
  private let makeSpool: SpoolMaker
  /// Held while decoding. Lock order: `turn`, `pass`, `made`. No thread then blocks on the mutex of `pass`.
  private let turn = CancellableLock()
  private let pass: UnfairLock<Pass>
  private let made = UnfairLock(Made())

  /// The decoder's progress through the stream.
  private struct Pass {
    /// The decoder. Nil before the first read, and when everything is decoded.
    var stream: DecodedStream?
    /// The next block to decode.
    var next: Int64 = 0
    var crc = CRC32()
    var hasTriedSpool = false
  }

  private struct Made {
    /// The spool. Nil also if its descriptor was needed for others.
    weak var spool: (any Spool)?
    /// The offset up to which the spool is filled, in bytes.
    var spooled: Int64 = 0
    var fault: Fault?
    /// Whether all bytes match the checksum.
    var isChecked = false
  }

  /// Creates a source. `size` and, unless it is nil, `crc` are the expected size and checksum of the output.
  /// `compressed` may be longer than its stream.
  public init(
    of compressed: any ByteSource, _ compression: Compression, size: Int64, crc: UInt32?, cache: BlockCache,
    spool: @escaping SpoolMaker
  ) {
    self.compressed = compressed
    self.compression = compression
    self.size = size
    self.crc = crc
    stretches = BlockTable(size: size, cache)
    makeSpool = spool
    pass = UnfairLock(Pass())
  }

  public func verify() throws(Fault) { try compressed.verify() }

  /// Returns the assurance of all bytes, which one checksum covers. It is compared when the last of them are decoded.
  public func assurance(of range: Range<Int64>) -> Assurance {
    guard crc != nil else { return compressed.assurance }
    return made.withLock { made in
      if let fault = made.fault { return .damaged(fault) }
      return made.isChecked ? .checked : .open
    }
  }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    unsafe try stretches.read(into: buffer, at: offset) { (part, index, start) throws(Fault) in
      let place = index * Int64(BlockTable.length) + Int64(start)
      // The spool may have been dropped once since. The bytes are then decoded again.
      while true {
        if let spool = spool(upTo: place + Int64(part.count)) {
          stretches.noteUseOfSpool()
          return unsafe try spool.read(into: part, at: place)
        }
        if let stretch = try stretch(index, blocking) { return unsafe stretch.copy(to: part, from: start) }
      }
    }
  }

  private func spool(upTo end: Int64) -> (any Spool)? { made.withLock { $0.spooled >= end ? $0.spool : nil } }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    guard offset >= 0, offset < size else { return nil }
    let count = Int(min(Int64(count), size - offset))
    return spool(upTo: offset + Int64(count)).map { Extent(holder: $0, offset: offset, count: count) }
  }

  public func workAhead(of offset: Int64) -> WorkAhead {
    guard offset >= 0, offset < size else { return .none }
    let behind = made.withLock { made -> Int64? in
      made.fault == nil && made.spool != nil && made.spooled < size ? made.spooled - offset : nil
    }
    // A reader near the end of the decoded bytes needs the next block soon.
    guard let behind, behind > 0, behind <= 2 * Int64(BlockTable.length) else { return .none }
    return pass.withLockIfAvailable { _ in true } ?? false ? .long : .none
  }

  public func prepare(at offset: Int64) {
    let next = made.withLock { $0.spooled }
    // The read of this block will get the fault again.
    if next < size { _ = try? stretch(next / Int64(BlockTable.length), .blocking) }
  }

  /// Returns a block from the cache, or decodes it. Returns `nil` if it is in the spool.
  private func stretch(_ index: Int64, _ blocking: BlockingMode) throws(Fault) -> CachedBlock? {
    if let found = stretches.find(index) { return found }
    if blocking == .immediate { throw .later }
    try turn.lock()
    defer { turn.unlock() }
    var outcome = Result<CachedBlock?, Fault>.success(nil)
    pass.withLock { pass in
      do throws(Fault) { outcome = .success(try advance(&pass, to: index)) } catch { outcome = .failure(error) }
    }
    return try outcome.get()
  }

  private func advance(_ pass: inout Pass, to index: Int64) throws(Fault) -> CachedBlock? {
    let (spooled, known) = made.withLock { ($0.spool == nil ? 0 : $0.spooled, $0.fault) }
    // Another thread may have decoded it meanwhile.
    if spooled > index * Int64(BlockTable.length) { return nil }
    if let found = stretches.find(index) { return found }
    if let known { throw known }
    if index < pass.next { pass = Pass(hasTriedSpool: true) }
    while true {
      // Between two blocks, the state is consistent for the next caller.
      try CancellationToken.check()
      let stretch: CachedBlock
      do throws(Fault) { stretch = try decodeNext(&pass) } catch {
        // The decoder's position is undefined. Unless the data are at fault, a retry may succeed.
        if error.concernsData { made.withLock { $0.fault = error } } else { startAgain(&pass) }
        throw error
      }
      let current = pass.next - 1
      if !keep(stretch, current, &pass) { stretches.insert(stretch, at: current) }
      if current == index { return stretch }
    }
  }

  /// Restarts decoding from the beginning. The contents of the spool stay valid.
  private func startAgain(_ pass: inout Pass) { pass = Pass(hasTriedSpool: pass.hasTriedSpool) }

  private func decodeNext(_ pass: inout Pass) throws(Fault) -> CachedBlock {
    var stream: DecodedStream
    if let begun = pass.stream {
      stream = begun
    } else {
      stream = try DecodedStream(compressed, compression, size: size)
    }
    let wanted = stretches.length(of: pass.next)
    let bytes = try stream.next(wanted)
    guard bytes.count == wanted else {
      let found = pass.next * Int64(BlockTable.length) + Int64(bytes.count)
      throw Fault(.damaged, "expected \(size) decoded bytes, found an end after \(found)")
    }
    unsafe bytes.withUnsafeBytes { unsafe pass.crc.update($0) }
    pass.next += 1
    if pass.next < stretches.count {
      pass.stream = stream
      return CachedBlock(bytes)
    }
    // Frees the decoder's memory.
    pass.stream = nil
    guard try stream.isAtEnd() else { throw Fault(.damaged, "expected \(size) decoded bytes, found more") }
    if let crc, pass.crc.value != crc { throw Fault(crc: crc, found: pass.crc.value) }
    made.withLock { $0.isChecked = true }
    return CachedBlock(bytes)
  }

  /// Writes a block to the spool. Returns false if the spool is missing or full.
  private func keep(_ stretch: CachedBlock, _ index: Int64, _ pass: inout Pass) -> Bool {
    if !pass.hasTriedSpool {
      pass.hasTriedSpool = true
      let spool = makeSpool()
      stretches.keep(spool)
      made.withLock { $0.spool = spool }
    }
    let offset = index * Int64(BlockTable.length)
    let (spool, spooled) = made.withLock { ($0.spool, $0.spooled) }
    guard let spool else { return false }
    // The block was decoded again after a transient fault.
    if spooled > offset { return true }
    do throws(Fault) {
      var fault: Fault?
      unsafe stretch.bytes.withUnsafeBytes { bytes in
        do throws(Fault) { unsafe try spool.write(bytes, at: offset) } catch { fault = error }
      }
      if let fault { throw fault }
      made.withLock { $0.spooled = offset + Int64(stretch.bytes.count) }
      return true
    } catch {
      // Out of space: the spool is freed, and its contents are decoded again when they are read.
      made.withLock { made in
        made.spool = nil
        made.spooled = 0
      }
      stretches.dropSpool()
      return false
    }
  }
}

extension Fault {
  /// Whether a retry with the same data would fail in the same way.
  fileprivate var concernsData: Bool {
    switch kind {
    case .damaged, .unsupported, .limit, .locked: true
    case .later, .pending, .interrupted, .changed, .system: false
    }
  }
}

/// Decodes a compressed source of up to a few hundred KiB. Throws unless the result has `size` bytes and the given CRC.
/// Blocks.
public func decodeWhole(
  _ compressed: any ByteSource, _ compression: Compression, size: Int, crc: UInt32?
) throws(Fault) -> [UInt8] {
  var stream = try DecodedStream(compressed, compression, size: Int64(size))
  let bytes = try stream.next(size)
  guard bytes.count == size else {
    throw Fault(.damaged, "expected \(size) decoded bytes, found an end after \(bytes.count)")
  }
  guard try stream.isAtEnd() else { throw Fault(.damaged, "expected \(size) decoded bytes, found more") }
  if let crc {
    let found = CRC32.of(bytes[...])
    if found != crc { throw Fault(crc: crc, found: found) }
  }
  return bytes
}
