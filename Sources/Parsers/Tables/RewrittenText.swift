public import Bytes
internal import Locks
internal import Synchronization
public import Threads

/// A text that is generated from a file as it is read: sequentially, piece by piece.
///
/// Only the latest pieces are cached, and marks from which others can be generated again. Memory therefore depends on
/// neither length. The end is known after a reader has reached it. Until then, the size is an estimate.
public final class RewrittenText: ByteSource {
  /// The cache of the latest pieces, shared by several texts.
  public final class Memory: Sendable {
    let pieces: LRUCache<Piece.Key, Piece>
    let lastNumber = Atomic<UInt64>(0)

    /// Creates a cache of `capacity` bytes.
    public init(capacity: Int, _ budget: MemoryBudget = MemoryBudget()) {
      pieces = LRUCache(capacity: capacity, budget)
    }
  }

  private let source: any ByteSource
  private let memory: Memory
  private let number: UInt64
  private let state: UnfairLock<State>
  /// The lock that serializes the generation of pieces. Lock order: before the lock of `state`.
  private let turn = CancellableLock()
  /// The converters, which are used only with `turn` locked.
  private let converters = UnfairLock(TextDecoder.Converters())
  private let ended: @Sendable (Int64) -> Void
  private let guess: Int64

  /// The size of a piece, in bytes of the file.
  private static let pieceSize: Int64 = 64 << 10
  /// The distance by which the text is generated ahead of its reader, in bytes.
  private static let lead: Int64 = 512 << 10
  /// The maximum number of bytes of the file to read for one request, which limits the cost of abandoned requests.
  private static let turnSize: Int64 = 32 << 20

  /// - Parameters:
  ///   - guess: The estimated size, never 0.
  ///   - ended: Called once, when the size is known.
  init(
    of source: any ByteSource, _ rewriting: any PieceRewriting, guess: Int64, memory: Memory,
    ended: @escaping @Sendable (Int64) -> Void
  ) {
    self.source = source
    self.memory = memory
    self.guess = guess
    self.ended = ended
    number = memory.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    state = UnfairLock(State(marks: [Mark(rewriting: rewriting)]))
  }

  public var size: Int64 {
    // If the text exceeds the estimate, more follows.
    state.withLock { $0.end ?? max(guess, $0.made + (1 << 20)) }
  }

  /// The fault of reads past the end. Nil until it is known.
  public var fault: Fault? { state.withLock { $0.fault } }

  /// Whether the end is known and the text has no fault. With a known size, the kernel would stop reading before the
  /// fault.
  public var hasKnownSize: Bool { state.withLock { $0.end != nil && $0.fault == nil } }

  public func verify() throws(Fault) { try source.verify() }

  public func findSize(_ blocking: BlockingMode) throws(Fault) { _ = try findSize(within: .max, blocking) }

  /// Generates the text to its end if that is within `limit` bytes. Returns whether the end was reached. Throws `later`
  /// if that takes long, after a part of the work.
  public func findSize(within limit: Int64, _ blocking: BlockingMode) throws(Fault) -> Bool {
    var first: Int64?
    while true {
      let (end, made) = state.withLock { ($0.end, $0.made) }
      if end != nil { return true }
      if made > limit { return false }
      let start = first ?? made
      first = start
      guard blocking == .blocking, made - start < 2 * Self.turnSize else { throw .later }
      try make(upTo: made)
    }
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    guard offset >= 0 else { return 0 }
    var filled = 0
    while filled < buffer.count {
      let place = offset + Int64(filled)
      let (end, fault) = state.withLock { ($0.end, $0.fault) }
      if let end, place >= end {
        if filled == 0, let fault { throw fault }
        break
      }
      guard let piece = piece(at: place) else {
        guard blocking == .blocking else { throw .later }
        try make(upTo: place)
        continue
      }
      let from = Int(place - piece.start)
      let count = min(piece.bytes.count - from, buffer.count - filled)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(
        from: piece.bytes[from..<from + count])
      filled += count
    }
    return filled
  }

  public func workAhead(of offset: Int64) -> WorkAhead {
    guard Bounds.holds(offset) else { return .none }
    let place = offset + Self.lead
    if let end = state.withLock({ $0.end }), place >= end { return .none }
    return piece(at: place) == nil ? .long : .none
  }

  public func prepare(at offset: Int64) {
    guard Bounds.holds(offset) else { return }
    // A read at that offset reports the fault.
    try? make(upTo: offset + Self.lead)
  }

  // MARK: Pieces

  private func piece(at place: Int64) -> Piece? {
    guard let number = state.withLock({ $0.places.last { $0.range.contains(place) }?.number }) else { return nil }
    return memory.pieces[Piece.Key(text: self.number, number: number)]
  }

  /// Generates pieces up to the one at `place`, or to the end. Throws `later` if that is too far.
  private func make(upTo place: Int64) throws(Fault) {
    try turn.lock()
    defer { turn.unlock() }
    var done: Int64 = 0
    // Another thread may have generated it in the meantime.
    while piece(at: place) == nil {
      if let end = state.withLock({ $0.end }), place >= end { return }
      guard done < Self.turnSize else { throw .later }
      guard let mark = state.withLock({ $0.mark(before: place) }) else { return }
      // Several pieces can be needed. The next iteration starts where this one ends.
      let made = try makePiece(from: mark)
      done += Self.pieceSize
      if made == nil { return }
    }
  }

  /// Generates the piece at a mark. Returns the mark after it, or `nil` at the end.
  private func makePiece(from mark: Mark) throws(Fault) -> Mark? {
    let offset = Int64(mark.number) * Self.pieceSize
    let count = min(Self.pieceSize, source.size - offset)
    let isLast = offset + count >= source.size
    let input = try source.bytes(at: offset, count: Int(max(0, count)))
    try source.verify()
    var next = mark
    let bytes = converters.withLock { next.rewriting.rewrite(input, isLast: isLast, &$0) }
    let piece = Piece(start: mark.start, bytes: bytes)
    memory.pieces.insert(
      piece, for: Piece.Key(text: number, number: mark.number), cost: bytes.count + MemoryLayout<Piece>.size)
    next.number += 1
    next.start = piece.end
    let isEnd = isLast || next.rewriting.isFinished
    let (kept, isNew) = (next, state.withLock { $0.note(piece, mark.number, next, isEnd: isEnd) })
    if isNew { ended(piece.end) }
    return isEnd ? nil : kept
  }
}

extension RewrittenText {
  struct Piece: Sendable {
    struct Key: Hashable, Sendable {
      let text: UInt64
      let number: Int
    }

    let start: Int64
    let bytes: [UInt8]
    var end: Int64 { start + Int64(bytes.count) }
  }

  /// A restart point between two pieces.
  struct Mark: Sendable {
    /// The number of the following piece.
    var number = 0
    /// The offset in the text.
    var start: Int64 = 0
    var rewriting: any PieceRewriting
  }

  struct State: Sendable {
    /// The marks in ascending order. The first is the start of the text.
    var marks: [Mark]
    /// The number of pieces between marks.
    var spacing = 64
    /// The latest marks, at any distance.
    var recent: [Mark] = []
    /// The ranges of the latest pieces.
    var places: [(number: Int, range: Range<Int64>)] = []
    /// The end of the text generated so far.
    var made: Int64 = 0
    var end: Int64?
    /// The fault of reads past the end.
    var fault: Fault?
  }
}

extension RewrittenText.State {
  private static let mostMarks = 1024
  private static let mostRecent = 8
  private static let mostPlaces = 32

  /// Returns the nearest mark from which the text at `place` can be generated.
  func mark(before place: Int64) -> RewrittenText.Mark? {
    let mark = marks[max(0, marks.partitionIndex { $0.start <= place } - 1)]
    let near = recent.filter { $0.start <= place }.max { $0.number < $1.number }
    guard let near, near.number > mark.number else { return mark }
    return near
  }

  /// Records a piece. Returns whether the end was unknown before.
  mutating func note(
    _ piece: RewrittenText.Piece, _ number: Int, _ next: RewrittenText.Mark, isEnd: Bool
  ) -> Bool {
    made = max(made, piece.end)
    places.removeAll { $0.number == number }
    places.append((number, piece.start..<piece.end))
    if places.count > Self.mostPlaces { places.removeFirst() }
    if isEnd {
      defer { end = piece.end }
      fault = next.rewriting.fault
      return end == nil
    }
    recent.removeAll { $0.number == next.number }
    recent.append(next)
    if recent.count > Self.mostRecent { recent.removeFirst() }
    if next.number.isMultiple(of: spacing), let last = marks.last, next.number > last.number {
      marks.append(next)
      if marks.count > Self.mostMarks {
        spacing *= 2
        let spacing = spacing
        marks.removeAll { !$0.number.isMultiple(of: spacing) }
      }
    }
    return false
  }
}
