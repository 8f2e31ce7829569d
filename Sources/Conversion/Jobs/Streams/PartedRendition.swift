internal import Bytes
internal import Synchronization

/// A conversion result whose parts are made independently, when they are read.
final class PartedRendition: ByteSource {
  let size: Int64
  let identity: ByteIdentity?
  private let source: any ByteSource
  /// Returns a part. Throws `pending` while it is being made.
  private let part: @Sendable (Range<Int64>, BlockingMode) throws(Fault) -> ConversionResult
  /// Starts to make a part before it is requested.
  private let prepare: @Sendable (Range<Int64>) -> Void
  /// The end of the last read.
  private let reached = Atomic<Int64>(0)

  /// The size of a part for random reads, in bytes. `large` is for sequential reads and a multiple of it.
  private static let small: Int64 = 128 << 10
  private static let large: Int64 = 2 << 20

  init(
    of source: any ByteSource, size: Int64, identity: ByteIdentity?,
    part: @escaping @Sendable (Range<Int64>, BlockingMode) throws(Fault) -> ConversionResult,
    prepare: @escaping @Sendable (Range<Int64>) -> Void
  ) {
    self.source = source
    self.size = size
    self.identity = identity
    self.part = part
    self.prepare = prepare
  }

  func verify() throws(Fault) { try source.verify() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let end = offset + min(Int64(buffer.count), size - offset)
    // The kernel reads ahead for sequential readers. Two of its reads can arrive in either order.
    let readsOn = abs(offset - reached.load(ordering: .relaxed)) <= 4 * Self.small
    var place = offset
    while place < end {
      let range = range(at: place, readsOn ? Self.large : Self.small)
      let piece = try part(range, blocking)
      let next = min(end, range.upperBound)
      let target = unsafe UnsafeMutableRawBufferPointer(
        rebasing: buffer[Int(place - offset)..<Int(next - offset)])
      unsafe try piece.fill(target, at: place - range.lowerBound, blocking)
      place = next
    }
    reached.store(end, ordering: .relaxed)
    return Int(end - offset)
  }

  private func range(at place: Int64, _ step: Int64) -> Range<Int64> {
    let start = place / step * step
    return start..<start + min(step, size - start)
  }

  /// Returns whether the next part should be started before a sequential reader reaches it.
  func workAhead(of offset: Int64) -> WorkAhead {
    guard offset >= 0, offset < size - Self.large, offset % Self.large < Self.small,
      abs(offset - reached.load(ordering: .relaxed)) <= 4 * Self.small
    else { return .none }
    return .short
  }

  func prepare(at offset: Int64) { prepare(range(at: offset + Self.large, Self.large)) }
}
