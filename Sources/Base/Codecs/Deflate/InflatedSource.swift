public import Bytes
internal import Locks
internal import Threads

/// The output of a Deflate stream, at any offset.
///
/// The stream is decoded in blocks of 1 MiB. The first pass is sequential, checks the CRC and records restart points.
/// After it, any block is decoded from the preceding restart point. The latest blocks are cached, so that the kernel's
/// read-ahead may come in any order. The restart points of a long stream are also persisted. Blocks far ahead of the
/// first pass are decoded from those.
public final class InflatedSource: ByteSource {
  public let size: Int64
  private let compressed: any ByteSource
  private let crc: UInt32?
  private let stretches: BlockTable
  private let log: RestartLog?
  private let frontier: UnfairLock<Frontier>
  /// Locks for decoding: one thread decodes a block, and others that need it wait. Lock order: before `passTurn`.
  private let turns = [CancellableLock(), CancellableLock(), CancellableLock(), CancellableLock()]
  /// Held while `frontier` is accessed, so that no thread blocks on the mutex of `frontier`.
  private let passTurn = CancellableLock()

  private static let inputSize = 128 << 10
  /// The maximum memory for the restart points of one source, in bytes. Beyond it, every other point is dropped. Less
  /// suffices if points are also persisted.
  private static let pointsCost = 8 << 20
  private static let pointsCostWithLog = 2 << 20
  /// The minimum size of a stream whose points are persisted, in bytes. Shorter streams are decoded again faster than
  /// their points are read.
  private static let loggedSize: Int64 = 8 << 20
  /// The maximum distance of a read ahead of the first pass that continues the pass, in blocks. The kernel's read-ahead
  /// can be out of order by this distance.
  private static let readahead: Int64 = 2
  /// The maximum number of blocks to decode from a persisted point. For more, the first pass continues and records
  /// points.
  private static let longestRun: Int64 = 32

  /// The state of the first pass.
  fileprivate struct Frontier: ~Copyable {
    /// The decoder. Nil before the first pass has begun.
    var stream: DeflateStream?
    /// The next block to decode.
    var next: Int64 = 0
    var crc = CRC32()
    /// The restart points, by the block that starts there. Every `spacing`-th point is kept.
    var points: [Int64: DeflateRestartPoint] = [:]
    var spacing: Int64 = 1
    var cost = 0
    var fault: Fault?
  }

  /// Creates a source. `size` and, unless it is nil, `crc` are the expected size and checksum of the output.
  /// `compressed` may be longer than its stream.
  public init(of compressed: any ByteSource, size: Int64, crc: UInt32?, cache: BlockCache) {
    self.compressed = compressed
    self.size = size
    self.crc = crc
    stretches = BlockTable(size: size, cache)
    let identity = compressed.identity.map { InflatedSource.identity(of: $0, size, crc) }
    log =
      if size >= Self.loggedSize, let store = cache.restarts, let identity {
        RestartLog(store, of: identity, streamSize: compressed.size)
      } else { nil }
    frontier = UnfairLock(Frontier())
  }

  private static func identity(of compressed: ByteIdentity, _ size: Int64, _ crc: UInt32?) -> ByteIdentity {
    compressed.adding(.inflate, UInt64(bitPattern: size), UInt64(crc ?? 0))
  }

  public var identity: ByteIdentity? { compressed.identity.map { InflatedSource.identity(of: $0, size, crc) } }
  public var isSettling: Bool { compressed.isSettling }

  public func verify() throws(Fault) { try compressed.verify() }

  /// Returns the assurance of all bytes, which one checksum covers. The first pass compares it.
  public func assurance(of range: Range<Int64>) -> Assurance {
    guard crc != nil else { return compressed.assurance }
    return frontier.withLockIfAvailable { frontier in
      if let fault = frontier.fault { return .damaged(fault) }
      return frontier.next == stretches.count ? .checked : .open
    } ?? .open
  }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    unsafe try stretches.read(into: buffer, at: offset) { (part, index, start) throws(Fault) in
      unsafe try stretch(index, blocking).copy(to: part, from: start)
    }
  }

  public func workAhead(of offset: Int64) -> WorkAhead {
    let index = offset / Int64(BlockTable.length)
    // Starts once a quarter of the last decoded block has been read.
    guard offset % Int64(BlockTable.length) >= Int64(BlockTable.length / 4), index + 1 < stretches.count,
      !stretches.holds(index + 1),
      frontier.withLockIfAvailable({ $0.next == index + 1 && $0.fault == nil }) ?? false
    else { return .none }
    return .long
  }

  public func prepare(at offset: Int64) {
    let index = offset / Int64(BlockTable.length) + 1
    guard offset >= 0, index < stretches.count else { return }
    // The read of this block will get the fault again.
    _ = try? stretch(index, .blocking)
  }

  private func stretch(_ index: Int64, _ blocking: BlockingMode) throws(Fault) -> CachedBlock {
    if let found = stretches.find(index) { return found }
    if blocking == .immediate { throw .later }
    let turn = turns[Int(index % Int64(turns.count))]
    try turn.lock()
    defer { turn.unlock() }
    if let found = stretches.find(index) { return found }
    // Each round that ends without a block leaves fewer alternatives. A persisted point is distrusted once. Another
    // thread may have taken the first pass beyond the block while this one waited.
    for _ in 0..<3 {
      guard let start = try startingPoint(for: index) else {
        if let made = try advanceFrontier(to: index) { return made }
        continue
      }
      do throws(Fault) { return try decode(index, from: start) } catch {
        // Either the point or the stream is damaged: retry without the point.
        guard start.isStored, error.kind == .damaged else { throw error }
        log?.distrust()
      }
    }
    throw Fault(.changed, "the first pass went back")
  }

  private func decode(_ index: Int64, from start: Start) throws(Fault) -> CachedBlock {
    var stream = DeflateStream(inflater: Inflater(at: start.point), inputOffset: start.point.inputOffset)
    var current = start.index
    while true {
      try CancellationToken.check()
      let stretch = try decode(current, &stream)
      if current == index {
        stretches.insert(stretch, at: index)
        return stretch
      }
      current += 1
    }
  }

  private struct Start {
    var index: Int64
    var point: DeflateRestartPoint
    var isStored = false
  }

  /// Returns the nearest restart point at or before a block. Returns `nil` if the first pass has to reach the block
  /// first.
  private func startingPoint(for index: Int64) throws(Fault) -> Start? {
    try passTurn.lock()
    defer { passTurn.unlock() }
    let (next, noted) = frontier.withLock { frontier -> (Int64, (index: Int64, point: DeflateRestartPoint?)) in
      let start = index / frontier.spacing * frontier.spacing
      return (frontier.next, (start, frontier.points[start]))
    }
    let isBehind = index < next
    if let log, isBehind ? noted.index < index : index > next + Self.readahead {
      let first = max(isBehind ? noted.index + 1 : next + 1, index - Self.longestRun)
      if let stored = log.last(in: first...index) {
        return Start(index: stored.place, point: stored.point, isStored: true)
      }
    }
    guard isBehind else { return nil }
    return Start(index: noted.index, point: noted.point ?? Inflater().restartPoint(inputOffset: 0))
  }

  private func advanceFrontier(to index: Int64) throws(Fault) -> CachedBlock? {
    try passTurn.lock()
    defer { passTurn.unlock() }
    var outcome = Result<CachedBlock?, Fault>.success(nil)
    frontier.withLock { frontier in
      do throws(Fault) { outcome = .success(try advance(&frontier, to: index)) } catch { outcome = .failure(error) }
    }
    return try outcome.get()
  }

  private func advance(_ frontier: inout Frontier, to index: Int64) throws(Fault) -> CachedBlock? {
    if let fault = frontier.fault { throw fault }
    do throws(Fault) {
      while true {
        let current = frontier.next
        if current > index { return stretches.find(index) }
        // Between two blocks, the state is consistent for the next caller.
        try CancellationToken.check()
        let stretch: CachedBlock
        do throws(Fault) { stretch = try decodeNext(&frontier) } catch {
          // The decoder's position is undefined. Unless the data are damaged, a retry from the start may succeed.
          if error.kind != .damaged { frontier = Frontier() }
          throw error
        }
        unsafe stretch.bytes.withUnsafeBytes { unsafe frontier.crc.update($0) }
        if current + 1 == stretches.count, let crc, frontier.crc.value != crc {
          throw Fault(crc: crc, found: frontier.crc.value)
        }
        frontier.next += 1
        note(&frontier)
        stretches.insert(stretch, at: current)
        if current == index { return stretch }
      }
    } catch {
      if error.kind == .damaged {
        frontier.fault = error
        log?.distrust()
      }
      throw error
    }
  }

  /// Records the position reached by the first pass.
  private func note(_ frontier: inout Frontier) {
    if frontier.next == stretches.count {
      log?.finish()
      return
    }
    let point = frontier.note(at: frontier.next, atMost: log == nil ? Self.pointsCost : Self.pointsCostWithLog)
    guard let log else { return }
    log.note(at: frontier.next) { point ?? frontier.stream?.restartPoint }
  }

  private func decodeNext(_ frontier: inout Frontier) throws(Fault) -> CachedBlock {
    var stream = frontier.stream.take() ?? DeflateStream(inflater: Inflater(), inputOffset: 0)
    let stretch = try decode(frontier.next, &stream)
    frontier.stream = consume stream
    return stretch
  }

  private func decode(_ index: Int64, _ stream: inout DeflateStream) throws(Fault) -> CachedBlock {
    let wanted = stretches.length(of: index)
    let bytes = try stream.next(wanted, from: compressed, inputSize: Self.inputSize)
    guard bytes.count == wanted else { throw endsEarly(Int(index) * BlockTable.length + bytes.count) }
    if index + 1 == stretches.count, try !stream.isAtEnd(compressed) {
      throw Fault(.damaged, "expected \(size) bytes of inflated data, found more")
    }
    return CachedBlock(bytes)
  }

  private func endsEarly(_ produced: Int) -> Fault {
    Fault(.damaged, "expected \(size) bytes of inflated data, found an end after \(produced)")
  }
}

extension InflatedSource.Frontier {
  /// Records and returns the restart point at the start of block `index`. Returns `nil` if the point is not to be kept.
  /// Beyond the budget, every other point is dropped.
  fileprivate mutating func note(at index: Int64, atMost limit: Int) -> DeflateRestartPoint? {
    guard index % spacing == 0, let point = stream?.restartPoint else { return nil }
    points[index] = point
    cost += point.cost
    while cost > limit {
      spacing *= 2
      for (key, point) in points where key % spacing != 0 {
        points[key] = nil
        cost -= point.cost
      }
    }
    return point
  }
}
