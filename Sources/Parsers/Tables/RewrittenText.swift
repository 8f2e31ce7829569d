public import Bytes
internal import Synchronization
public import Threads

/// A text that is generated from a file as it is read: sequentially, piece by piece.
///
/// Only the latest pieces are cached, and marks from which others can be generated again, so memory depends on neither
/// length. The end is known once a reader has reached it: until then the size is an estimate.
public final class RewrittenText: ByteSource {
  /// The cache of the latest pieces, shared by several texts.
  public final class Memory: Sendable {
    let pieces: LRUCache<Piece.Key, Piece>
    let lastNumber = Atomic<UInt64>(0)

    /// In bytes.
    public init(capacity: Int, _ budget: MemoryBudget = MemoryBudget()) {
      pieces = LRUCache(capacity: capacity, budget)
    }
  }

  private let source: any ByteSource
  private let memory: Memory
  private let number: UInt64
  private let state: Mutex<State>
  /// Held while a piece is made. Lock order: before the lock of `state`.
  private let turn = BlockingLock()
  /// Accessed with `turn` held.
  private let converters = Mutex(TextDecoder.Converters())
  private let ended: @Sendable (Int64) -> Void
  private let guess: Int64

  /// In bytes of the file.
  private static let pieceSize: Int64 = 64 << 10
  /// How much of the text is made ahead of its reader.
  private static let lead: Int64 = 512 << 10
  /// The most of the file that is read for one request, so that abandoned requests cost no more.
  private static let turnSize: Int64 = 32 << 20

  /// - Parameters:
  ///   - guess: the estimated size; never 0.
  ///   - ended: called once, when the size is known.
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
    // Text beyond the estimate shows that there is more.
    state.withLock { $0.end ?? max(guess, $0.made + (1 << 20)) }
  }

  /// What whoever reads on behind the end gets; nil until that is known.
  public var fault: Fault? { state.withLock { $0.fault } }

  /// Not of a text with a fault: else the kernel would end the reading where the text ends.
  public var hasKnownSize: Bool { state.withLock { $0.end != nil && $0.fault == nil } }

  public func verify() throws(Fault) { try source.verify() }

  public func findSize(_ patience: Patience) throws(Fault) { _ = try findSize(within: .max, patience) }

  /// Makes the text to its end, if that is within `limit` bytes; returns whether it was reached. Throws `later` when
  /// that takes long; some of the work is done then.
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
      let (end, fault) = state.withLock { ($0.end, $0.fault) }
      if let end, place >= end {
        if filled == 0, let fault { throw fault }
        break
      }
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
    // A reader there will get the fault.
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
    // Another thread may just have made it.
    while piece(at: place) == nil {
      if let end = state.withLock({ $0.end }), place >= end { return }
      guard done < Self.turnSize else { throw .later }
      guard let mark = state.withLock({ $0.mark(before: place) }) else { return }
      // Several pieces may be needed: the next round starts where this one has ended.
      let made = try makePiece(from: mark)
      done += Self.pieceSize
      if made == nil { return }
    }
  }

  /// Makes the piece at a mark; returns the mark after it, nil at the end.
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
