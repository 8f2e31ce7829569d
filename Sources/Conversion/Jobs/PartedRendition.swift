internal import Bytes
internal import Synchronization

/// The result of a conversion of which each part can be made by itself, when it is read.
final class PartedRendition: ByteSource {
  let size: Int64
  let identity: ByteIdentity?
  private let source: any ByteSource
  /// Gives a part, or throws what to wait for.
  private let part: @Sendable (Range<Int64>, Patience) throws(Fault) -> Rendition
  /// Begins with a part that nobody waits for yet.
  private let prepare: @Sendable (Range<Int64>) -> Void
  /// Where the last read ended.
  private let reached = Atomic<Int64>(0)

  /// What a reader gets who jumps about, and who reads on: a multiple of it.
  private static let small: Int64 = 128 << 10
  private static let large: Int64 = 2 << 20

  init(
    of source: any ByteSource, size: Int64, identity: ByteIdentity?,
    part: @escaping @Sendable (Range<Int64>, Patience) throws(Fault) -> Rendition,
    prepare: @escaping @Sendable (Range<Int64>) -> Void
  ) {
    self.source = source
    self.size = size
    self.identity = identity
    self.part = part
    self.prepare = prepare
  }

  func verify() throws(Fault) { try source.verify() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let end = offset + min(Int64(buffer.count), size - offset)
    // The kernel reads ahead of who reads on, and two of its reads may come in either order.
    let readsOn = abs(offset - reached.load(ordering: .relaxed)) <= 4 * Self.small
    var place = offset
    while place < end {
      let range = range(at: place, readsOn ? Self.large : Self.small)
      let piece = try part(range, patience)
      let next = min(end, range.upperBound)
      let target = unsafe UnsafeMutableRawBufferPointer(
        rebasing: buffer[Int(place - offset)..<Int(next - offset)])
      unsafe try piece.fill(target, at: place - range.lowerBound, patience)
      place = next
    }
    reached.store(end, ordering: .relaxed)
    return Int(end - offset)
  }

  private func range(at place: Int64, _ step: Int64) -> Range<Int64> {
    let start = place / step * step
    return start..<start + min(step, size - start)
  }

  /// That another has begun with the next part before this reader is there.
  func workAhead(of offset: Int64) -> WorkAhead {
    guard offset >= 0, offset < size - Self.large, offset % Self.large < Self.small,
      abs(offset - reached.load(ordering: .relaxed)) <= 4 * Self.small
    else { return .none }
    return .short
  }

  func prepare(at offset: Int64) { prepare(range(at: offset + Self.large, Self.large)) }
}
