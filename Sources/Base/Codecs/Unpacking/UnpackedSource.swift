public import Bytes
internal import Glibc
internal import Locks
internal import Threads

/// The content of a compressed file, at any offset.
///
/// The content is decoded in blocks of 1 MiB. The first pass is sequential and records restart points: anywhere within
/// a gzip member, otherwise at the ends of independently compressed parts. They are stored with the size, so that the
/// first pass is needed only once. The decoded bytes of long parts are kept in a spool.
///
/// The size is known after the first pass, or before it if the file records its parts. If it does not, the content ends
/// before bytes that cannot be decoded, and `fault` is the reason.
///
/// Bytes of a part that does not match its checksum are not readable, unless `showsDamage`. A part with a known end and
/// of up to `longestPart` bytes is checked before any of its bytes are returned. A longer part is checked while it is
/// decoded.
public final class UnpackedSource: ByteSource {
  let compressed: any ByteSource
  let packing: CompressedFormat
  let stretches: BlockTable
  let log: FileRestartLog?
  let makeSpool: SpoolMaker
  /// The maximum size of the content that is read, in bytes.
  let limit: Int64
  /// Whether bytes that do not match their checksum are readable.
  public let showsDamage: Bool
  let state = UnfairLock(State())
  /// Locks for decoding: one thread decodes a block, and others that need it wait. Lock order: before `passTurn`.
  let turns = [CancellableLock(), CancellableLock(), CancellableLock(), CancellableLock()]
  /// Held by the thread that decodes bytes for the first time, or far from any restart point.
  let passTurn = CancellableLock()
  /// The parts that are currently decoded into the spool, by their end offsets.
  let claimed = Monitor<Set<Int64>>([])

  /// The valid offsets of reads.
  private static let places = 0..<Bounds.largestSize
  static let length = Int64(BlockTable.length)
  /// The distance of stored restart points within a gzip member, in bytes of output. Other points between them are
  /// recorded in memory.
  static let storedSpacing: Int64 = 40 << 20
  /// The distance from the preceding restart point beyond which blocks are kept in the spool, in bytes.
  static let farthest: Int64 = 4 << 20
  /// The maximum size of a part that is decoded at once, in bytes of output.
  static let longestPart: Int64 = 32 << 20
  static let stepSize = 128 << 10
  /// The maximum memory for restart points, in bytes.
  static let placesCost = 24 << 20

  /// Creates a source. The size of `compressed` must be known. Content beyond `limit` bytes is not read.
  public init(
    of compressed: any ByteSource, _ packing: CompressedFormat, limit: Int64 = Bounds.largestSize,
    showsDamage: Bool = false, cache: BlockCache, spool: @escaping SpoolMaker = { nil }
  ) {
    self.limit = limit
    self.showsDamage = showsDamage
    self.compressed = compressed
    self.packing = packing
    makeSpool = spool
    stretches = BlockTable(size: Bounds.largestSize, cache)
    if let store = cache.restarts, let identity = compressed.identity {
      log = FileRestartLog(store, of: Self.identity(of: identity, packing, false))
    } else {
      log = nil
    }
  }

  /// Returns the identity of the content. Results derived with `showsDamage` are not shared with other readers.
  private static func identity(of compressed: ByteIdentity, _ packing: CompressedFormat, _ showsDamage: Bool)
    -> ByteIdentity
  {
    compressed.adding(.unpack, UInt64(packing.rawValue), showsDamage ? 1 : 0)
  }

  public var identity: ByteIdentity? { compressed.identity.map { Self.identity(of: $0, packing, showsDamage) } }
  public var isSettling: Bool { compressed.isSettling }
  public func verify() throws(Fault) { try compressed.verify() }

  // MARK: Size

  /// The size in bytes. Until it is known, an estimate that is not too small for usual files.
  public var size: Int64 {
    state.withLock { state in
      state.end?.size ?? max(state.reach, Bounds.size(compressed.size * 16))
    }
  }

  public var hasKnownSize: Bool { state.withLock { $0.end != nil } }

  /// The reason for an early end of the content. Nil if it does not end early, as far as is known.
  public var fault: Fault? { state.withLock { $0.end?.fault } }

  /// Decodes the whole file, unless its size is known. Blocks.
  public func findSize(_ blocking: BlockingMode) throws(Fault) {
    if hasKnownSize { return }
    if blocking == .immediate { throw .later }
    try load()
    while !hasKnownSize {
      let next = state.withLock { $0.reach } / Self.length
      _ = try stretch(next, blocking, isKept: false)
      guard hasKnownSize || state.withLock({ $0.reach / Self.length > next }) else {
        throw Fault(.changed, "the first pass does not continue")
      }
    }
  }

  /// Loads the parts that the file records, or the records in the store. Blocks.
  public func load() throws(Fault) {
    if state.withLock({ $0.isLoaded }) { return }
    try passTurn.lock()
    defer { passTurn.unlock() }
    if state.withLock({ $0.isLoaded }) { return }
    let table = try UnpackingTable.read(compressed, packing)
    let stored = log?.end()
    let end = table == nil ? stored : nil
    let last = table == nil && end == nil ? log?.last(in: 1...(Int64.max - 1)).flatMap(resumable) : nil
    state.withLock { state in
      state.isLoaded = true
      if let table {
        (state.places, state.reach) = (table.places, table.size)
        (state.table, state.end) = (table, bounded(FirstPassResult(size: table.size, fault: table.fault)))
        if let stored, stored.size == table.size { state.checks = stored.checks }
      } else if let end {
        (state.reach, state.end) = (end.size, bounded(FirstPassResult(size: end.size, fault: end.fault)))
        state.checks = end.checks
      } else if let last {
        state.places.append(last)
        state.reach = last.output
        // A damaged part would have ended the first pass.
        if packing != .gzip { state.checks.pass(0..<last.output) }
      }
    }
  }

  /// Returns a restart point if the first pass can be resumed there. Returns `nil` if other gzip members precede it,
  /// because their checks are unknown.
  private func resumable(_ place: FileRestartPoint) -> FileRestartPoint? {
    packing != .gzip || place.inflation?.size == place.output ? place : nil
  }

  private func bounded(_ end: FirstPassResult) -> FirstPassResult {
    end.size <= limit ? end : FirstPassResult(size: limit, fault: beyondLimit)
  }

  var beyondLimit: Fault {
    Fault(
      .limit, "it has more than \(limit) bytes in \(compressed.size), over the limit (-o max_size=, -o max_ratio=)")
  }

  // MARK: Reading

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < Bounds.largestSize else { return 0 }
    let end = offset + min(Int64(buffer.count), Bounds.largestSize - offset)
    try check(offset..<end, blocking)
    let count = unsafe try readUnchecked(into: buffer, at: offset, blocking)
    // Decoding may have reached the end of the part.
    try refuse(offset..<offset + Int64(count))
    return count
  }

  /// Reads bytes without regard to their checksum. Bytes that cannot be decoded are read as 0xff if others follow them.
  func readUnchecked(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < Bounds.largestSize else { return 0 }
    var done = 0
    while done < buffer.count {
      let place = offset + Int64(done)
      if let end = state.withLock({ $0.end?.size }), place >= end { break }
      let (index, start) = (place / Self.length, Int(place % Self.length))
      let wanted = min(buffer.count - done, Int(Self.length) - start)
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + wanted])
      if let (spool, count) = spooled(index, start, wanted) {
        unsafe try spool.read(into: UnsafeMutableRawBufferPointer(rebasing: part[..<count]), at: place)
        stretches.noteUseOfSpool()
        done += count
        continue
      }
      guard let stretch = try stretch(index, upTo: start + wanted, blocking), stretch.bytes.count > start else { break }
      let count = min(wanted, stretch.bytes.count - start)
      unsafe stretch.copy(to: UnsafeMutableRawBufferPointer(rebasing: part[..<count]), from: start)
      done += count
    }
    return done
  }

  /// Returns the spool, and the number of bytes of a block from `start` on that are in it. Returns `nil` if the block
  /// is not spooled.
  func spooled(_ index: Int64, _ start: Int, _ wanted: Int) -> (any Spool, Int)? {
    state.withLock { state in
      guard let spool = state.spool, state.spooled.contains(index) else { return nil }
      let end = min((index + 1) * Self.length, state.end?.size ?? .max)
      return (spool, min(wanted, Int(end - index * Self.length) - start))
    }
  }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    guard Self.places.contains(offset) else { return nil }
    return state.withLock { state in
      guard let spool = state.spool, let size = state.end?.size, offset < size, count > 0 else { return nil }
      let count = Int(min(Int64(count), size - offset))
      // Bytes that have not passed their check are read through `read`.
      guard showsDamage || state.checks.passes(offset..<offset + Int64(count)) else { return nil }
      let all = offset / Self.length...(offset + Int64(count) - 1) / Self.length
      return all.allSatisfy(state.spooled.contains) ? Extent(holder: spool, offset: offset, count: count) : nil
    }
  }

  public func workAhead(of offset: Int64) -> WorkAhead {
    let index = offset / Self.length + 1
    // Starts once a quarter of the last decoded block has been read.
    guard Self.places.contains(offset), offset % Self.length >= Self.length / 4, !stretches.holds(index) else {
      return .none
    }
    let isUseful = state.withLock { state in
      state.isLoaded && !state.spooled.contains(index) && index * Self.length < state.end?.size ?? .max
        && state.idle.contains { $0.position == index * Self.length }
    }
    return isUseful ? .long : .none
  }

  public func prepare(at offset: Int64) {
    // The read of this block will get the fault again.
    if Self.places.contains(offset) { _ = try? stretch(offset / Self.length + 1, .blocking) }
  }
}

/// The exclusive right to decode a part that is kept in the spool. Other threads that need the part wait.
///
/// Lock order: after `turns`, never with `passTurn`.
final class PartClaim: Sendable {
  /// The end of the part, as an offset in the decoded file.
  let end: Int64
  private let claimed: Monitor<Set<Int64>>

  /// The maximum number of parts of a file that are decoded concurrently. Their dictionaries take memory.
  private static let most = 2

  /// Claims a part. Blocks while other threads decode this part, or the maximum number of parts.
  init(of end: Int64, in claimed: Monitor<Set<Int64>>) throws(Fault) {
    try claimed.take { $0.count < Self.most && $0.insert(end).inserted ? () : nil }
    self.end = end
    self.claimed = claimed
  }

  deinit { _ = claimed.update { $0.remove(end) } }
}

extension UnpackedSource {
  private static let finishers = ThreadPool(atMost: min(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), 4))

  /// Returns the end of a short, spooled part if the reader jumps into the middle of it. Returns `nil` otherwise.
  ///
  /// Decoding the whole part at once avoids starting over for each later read that is farther ahead.
  func endOfSpooledPart(around index: Int64) -> Int64? {
    guard packing != .gzip, index > 0, !stretches.holds(index - 1) else { return nil }
    let offset = index * Self.length
    return state.withLock { state in
      guard let end = state.end?.size, state.spool != nil || !state.hasTriedSpool else { return nil }
      let next = state.places.partitionIndex { $0.output <= offset }
      let start = state.places[max(0, next - 1)].output
      let partEnd = next < state.places.count ? state.places[next].output : end
      return offset - start >= Self.farthest && partEnd - start <= Self.longestPart ? partEnd : nil
    }
  }

  /// Decodes the rest of a part into the spool, as far as possible, in the background.
  func finishPart(_ cursor: Cursor, _ claim: PartClaim) {
    Self.finishers.submit { [self] in
      defer { withExtendedLifetime(claim) {} }
      do throws(Fault) {
        while cursor.position < claim.end, try advance(cursor, until: .max) != nil {}
        giveBack(cursor)
      } catch {
        // The next read of these bytes gets the fault again.
      }
    }
  }
}
