/// Several sources, concatenated.
public final class JoinedSource: ByteSource {
  private let parts: [any ByteSource]
  /// The offset of each part, in bytes.
  public let starts: [Int64]
  public let size: Int64
  public let identity: ByteIdentity?
  public let isSettling: Bool

  /// Concatenates parts, whose sizes must be known. Throws a limit fault if their sum is too large.
  public init(_ parts: [(name: FileName, bytes: any ByteSource)]) throws(Fault) {
    var starts: [Int64] = []
    var end: Int64 = 0
    for part in parts {
      starts.append(end)
      end += Bounds.size(part.bytes.size)
      guard Bounds.holds(end) else { throw Fault(.limit, "its parts are too large together") }
    }
    self.parts = parts.map(\.bytes)
    self.starts = starts
    size = end
    let named = parts.compactMap { part in part.bytes.identity.map { (part.name, $0) } }
    isSettling = parts.contains { $0.bytes.isSettling }
    identity = named.count == parts.count ? ByteIdentity(bundling: named) : nil
  }

  /// Returns the index of the part that contains an offset of the source. Empty parts contain none. O(log n).
  private func part(at offset: Int64) -> Int { max(0, starts.partitionIndex { $0 <= offset } - 1) }

  private func holds(_ offset: Int64) -> Bool { offset >= 0 && offset < size }

  /// Calls `body` for each part that overlaps a range, with the part, the offset in it, and the subrange that it
  /// covers.
  private func each(
    from offset: Int64, count: Int, _ body: (_ part: any ByteSource, _ start: Int64, Range<Int>) throws(Fault) -> Void
  ) throws(Fault) {
    guard holds(offset) else { return }
    let count = Int(min(Int64(count), size - offset))
    var done = 0
    var index = part(at: offset)
    while done < count {
      let start = offset + Int64(done) - starts[index]
      let here = Int(min(Int64(count - done), parts[index].size - start))
      if here > 0 { try body(parts[index], start, done..<done + here) }
      done += here
      index += 1
    }
  }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    var filled = 0
    try each(from: offset, count: buffer.count) { (part, start, range) throws(Fault) in
      unsafe try part.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[range]), at: start, blocking)
      filled = range.upperBound
    }
    return filled
  }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    guard holds(offset) else { return nil }
    let index = part(at: offset)
    let start = offset - starts[index]
    let wanted = Int(min(Int64(count), size - offset))
    return Int64(wanted) <= parts[index].size - start ? parts[index].extent(at: start, count: wanted) : nil
  }

  public func verify() throws(Fault) {
    for part in parts { try part.verify() }
  }

  public func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    try each(from: offset, count: count) { (part, start, range) throws(Fault) in
      try part.willMove(at: start, count: range.count, blocking)
    }
  }

  public func workAhead(of offset: Int64) -> WorkAhead {
    guard holds(offset) else { return .none }
    let index = part(at: offset)
    return parts[index].workAhead(of: offset - starts[index])
  }

  public func prepare(at offset: Int64) {
    guard holds(offset) else { return }
    let index = part(at: offset)
    parts[index].prepare(at: offset - starts[index])
  }
}
