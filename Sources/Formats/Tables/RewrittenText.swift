public import Bytes
internal import Synchronization
public import Threads

/// A text that is made of a file when it is read: from front to back, a piece at a time.
///
/// Nothing of it is kept but what was made last, and marks from which it can be made again, so memory depends on neither
/// length. Where it ends is known when somebody has come there: until then the size is a guess.
public final class RewrittenText: ByteSource {
  /// What was made last, of all texts that share it.
  public final class Memory: Sendable {
    let pieces: RecentlyUsed<Piece.Key, Piece>
    let lastNumber = Atomic<UInt64>(0)

    /// In bytes.
    public init(capacity: Int, _ budget: MemoryBudget = MemoryBudget()) {
      pieces = RecentlyUsed(capacity: capacity, budget)
    }
  }

  private let source: any ByteSource
  private let memory: Memory
  private let number: UInt64
  private let state: Mutex<State>
  /// Held while a piece is made. Taken before the state's lock.
  private let turn = TurnLock()
  /// Touched with `turn` held.
  private let converters = Mutex(TextDecoder.Converters())
  private let ended: @Sendable (Int64) -> Void
  private let guess: Int64

  /// Of the file, in bytes.
  private static let pieceSize: Int64 = 64 << 10
  /// So much of the text is made ahead of its reader.
  private static let lead: Int64 = 512 << 10
  /// More of the file is not read for one answer: whoever has gone by then is not worked for.
  private static let turnSize: Int64 = 32 << 20

  /// - Parameters:
  ///   - guess: of the size; never 0.
  ///   - ended: called once when the size is known.
  init(
    of source: any ByteSource, _ rewriting: any PieceRewriting, guess: Int64, memory: Memory,
    ended: @escaping @Sendable (Int64) -> Void
  ) {
    self.source = source
    self.memory = memory
    self.guess = guess
    self.ended = ended
    number = memory.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    state = Mutex(State(marks: [Mark(rewriting: rewriting)]))
  }

  public var size: Int64 {
    // What is read beyond a guess shows that there is more.
    state.withLock { $0.end ?? max(guess, $0.made + (1 << 20)) }
  }

  public var hasKnownSize: Bool { state.withLock { $0.end != nil } }

  public func verify() throws(Fault) { try source.verify() }

  public func findSize(_ patience: Patience) throws(Fault) { _ = try findSize(within: .max, patience) }

  /// Makes the text to its end, if that is not further than `limit` bytes; gives whether it was reached. Throws `later`
  /// when that takes long, though some of it is done then.
  public func findSize(within limit: Int64, _ patience: Patience) throws(Fault) -> Bool {
    var first: Int64?
    while true {
      let (end, made) = state.withLock { ($0.end, $0.made) }
      if end != nil { return true }
      if made > limit { return false }
      let start = first ?? made
      first = start
      guard patience == .blocking, made - start < 2 * Self.turnSize else { throw .later }
      try make(upTo: made)
    }
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault)
    -> Int
  {
    guard offset >= 0 else { return 0 }
    var filled = 0
    while filled < buffer.count {
      let place = offset + Int64(filled)
      if let end = state.withLock({ $0.end }), place >= end { break }
      guard let piece = piece(at: place) else {
        guard patience == .blocking else { throw .later }
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
    // Whoever reads there meets the fault.
    try? make(upTo: offset + Self.lead)
  }

  // MARK: Pieces

  private func piece(at place: Int64) -> Piece? {
    guard let number = state.withLock({ $0.places.last { $0.range.contains(place) }?.number }) else { return nil }
    return memory.pieces[Piece.Key(text: self.number, number: number)]
  }

  /// Makes pieces up to the one at `place`, or to the end. Throws `later` when it is not near.
  private func make(upTo place: Int64) throws(Fault) {
    try turn.lock()
    defer { turn.unlock() }
    var done: Int64 = 0
    // Somebody may just have made it.
    while piece(at: place) == nil {
      if let end = state.withLock({ $0.end }), place >= end { return }
      guard done < Self.turnSize else { throw .later }
      guard let mark = state.withLock({ $0.mark(before: place) }) else { return }
      // From there it may take several: the next round starts where this one has ended.
      let made = try makePiece(from: mark)
      done += Self.pieceSize
      if made == nil { return }
    }
  }

  /// The mark behind it; nil at the end.
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
