/// Bytes of which another source contains some pieces. All other bytes are zeros.
public final class SparseSource: ByteSource {
  public struct Piece: BitwiseCopyable, Hashable, Sendable {
    /// The offset in the bytes.
    public var offset: Int64
    /// The number of bytes, which is not 0.
    public var count: Int64
    /// The offset in the other source.
    public var start: Int64

    public init(offset: Int64, count: Int64, start: Int64) {
      self.offset = offset
      self.count = count
      self.start = start
    }

    /// The offset behind the piece.
    public var end: Int64 { offset + count }
  }

  private let stored: any ByteSource
  private let pieces: [Piece]
  public let size: Int64
  public let identity: ByteIdentity?
  public var isSettling: Bool { stored.isSettling }

  /// Returns whether pieces are in order, do not overlap, and lie within `size` bytes and a source of `stored` bytes.
  public static func areValid(_ pieces: [Piece], size: Int64, stored: Int64) -> Bool {
    var end: Int64 = 0
    for piece in pieces {
      guard piece.offset >= end, piece.count > 0, piece.offset <= size, piece.count <= size - piece.offset,
        piece.start >= 0, piece.start <= stored, piece.count <= stored - piece.start
      else { return false }
      end = piece.end
    }
    return true
  }

  /// - Parameter pieces: Valid pieces.
  public init(_ pieces: [Piece], of stored: any ByteSource, size: Int64, identity: ByteIdentity? = nil) {
    self.pieces = pieces
    self.stored = stored
    self.size = size
    self.identity = identity
  }

  /// Returns the index of the first piece that ends after an offset.
  private func index(endingAfter offset: Int64) -> Int { pieces.partitionIndex { $0.end <= offset } }

  /// Calls `body` for each part of a piece in a range, with the offset in the other source and the subrange.
  private func each(
    from offset: Int64, count: Int, _ body: (_ start: Int64, Range<Int>) throws(Fault) -> Void
  ) throws(Fault) {
    let end = offset + Int64(count)
    var index = index(endingAfter: offset)
    while index < pieces.count, pieces[index].offset < end {
      let piece = pieces[index]
      let first = max(piece.offset, offset)
      try body(piece.start + first - piece.offset, Int(first - offset)..<Int(min(piece.end, end) - offset))
      index += 1
    }
  }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    var done = 0
    try each(from: offset, count: wanted) { (start, range) throws(Fault) in
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<range.lowerBound])
        .initializeMemory(as: UInt8.self, repeating: 0)
      unsafe try stored.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[range]), at: start, blocking)
      done = range.upperBound
    }
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<wanted])
      .initializeMemory(as: UInt8.self, repeating: 0)
    return wanted
  }

  public func next(_ kind: Area, from offset: Int64) throws(Fault) -> Int64? {
    guard offset >= 0, offset < size else { return nil }
    var index = index(endingAfter: offset)
    guard index < pieces.count else { return kind == .data ? nil : offset }
    if kind == .data { return max(offset, pieces[index].offset) }
    if offset < pieces[index].offset { return offset }
    // Areas can be adjacent.
    while index + 1 < pieces.count, pieces[index + 1].offset == pieces[index].end { index += 1 }
    return pieces[index].end
  }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    guard offset >= 0, offset < size else { return nil }
    let wanted = Int(min(Int64(count), size - offset))
    let index = index(endingAfter: offset)
    guard index < pieces.count, pieces[index].offset <= offset, pieces[index].end - offset >= Int64(wanted) else {
      return nil
    }
    return stored.extent(at: pieces[index].start + offset - pieces[index].offset, count: wanted)
  }

  public func verify() throws(Fault) { try stored.verify() }

  public func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    guard offset >= 0, offset < size else { return }
    try each(from: offset, count: Int(min(Int64(count), size - offset))) { (start, range) throws(Fault) in
      try stored.willMove(at: start, count: range.count, blocking)
    }
  }

  /// Returns the least assurance of the pieces in the range.
  public func assurance(of range: Range<Int64>) -> Assurance {
    var found = Assurance.none
    for piece in pieces[index(endingAfter: range.lowerBound)...] {
      if piece.offset >= range.upperBound { break }
      switch stored.assurance(of: piece.start..<Bounds.sum(piece.start, piece.count)) {
      case .damaged(let fault): return .damaged(fault)
      case .open: found = .open
      case .checked where found == .none: found = .checked
      case .checked, .none: break
      }
    }
    return found
  }

  public func workAhead(of offset: Int64) -> WorkAhead { place(offset).map { stored.workAhead(of: $0) } ?? .none }

  public func prepare(at offset: Int64) {
    if let place = place(offset) { stored.prepare(at: place) }
  }

  /// Returns the offset in the other source. Returns `nil` in a hole.
  private func place(_ offset: Int64) -> Int64? {
    let index = index(endingAfter: offset)
    guard offset >= 0, index < pieces.count, pieces[index].offset <= offset else { return nil }
    return pieces[index].start + offset - pieces[index].offset
  }
}
