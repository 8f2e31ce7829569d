public import Bytes
internal import Locks

/// The decoded bytes of a range of a source, with random access and never entirely in memory.
///
/// One pass over the range, on init, determines the exact size and records a restart point every 256 KiB of output. A
/// read starts at the nearest restart point, or where the last read ended. A very large part has wider spacing, so that
/// there are never more than 4,096 restart points.
public final class DecodedSource<Decoder: TransferDecoder>: ByteSource {
  private let source: any ByteSource
  private let range: Range<Int64>
  public let size: Int64
  /// The restart points, in ascending order. The first is the start.
  private let checkpoints: [Checkpoint]
  /// The state where the last read ended, or shortly before.
  private let latest: UnfairLock<Checkpoint>

  private struct Checkpoint: Sendable {
    /// The offset in the source.
    var input: Int64
    /// The offset in the output.
    var output: Int64
    var decoder: Decoder
  }

  /// Decodes `range` of `source` once, sequentially. Blocks. Rethrows the faults of `source`.
  public init(decoding range: Range<Int64>, of source: any ByteSource, with decoder: Decoder) throws(Fault) {
    let start = Checkpoint(input: range.lowerBound, output: 0, decoder: decoder)
    var checkpoints = [start]
    var stride: Int64 = 256 << 10
    var place = start
    unsafe try Self.decode(source, range, from: &place, .blocking) { place, _ in
      if let last = checkpoints.last, place.output - last.output >= stride {
        checkpoints.append(place)
        if checkpoints.count > 4096 {
          checkpoints = Swift.stride(from: 0, to: checkpoints.count, by: 2).map { checkpoints[$0] }
          stride *= 2
        }
      }
      return 64 << 10
    }
    self.source = source
    self.range = range
    size = place.output
    self.checkpoints = checkpoints
    latest = UnfairLock(start)
  }

  public var isSettling: Bool { source.isSettling }

  public var identity: ByteIdentity? {
    source.identity?.adding(.range, UInt64(range.lowerBound), UInt64(range.upperBound - range.lowerBound))
      .adding(.decodeTransfer, Decoder.number, UInt64(size))
  }

  public func verify() throws(Fault) { try source.verify() }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let end = offset + Int64(wanted)
    var place = checkpoint(before: offset)
    var written = 0
    unsafe try Self.decode(source, range, from: &place, blocking) { place, block in
      let from = max(offset, place.output)
      let to = min(end, place.output + Int64(block.count))
      if from < to {
        let part = unsafe block[Int(from - place.output)..<Int(to - place.output)]
        unsafe buffer.baseAddress?.advanced(by: Int(from - offset))
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: part).baseAddress!, byteCount: part.count)
        unsafe written += part.count
      }
      let after = place.output + Int64(block.count)
      if after >= end {
        latest.withLock { $0 = place }
        return 0
      }
      // The last blocks are small, so that little is decoded twice.
      return Int(min(64 << 10, max(2 << 10, end - after)))
    }
    guard written == wanted else {
      throw Fault(.changed, "decodes to \(offset + Int64(written)) bytes now, and did to \(size)")
    }
    return wanted
  }

  /// Returns the nearest restart point at or before `offset`.
  private func checkpoint(before offset: Int64) -> Checkpoint {
    let kept = checkpoints[max(0, checkpoints.partitionIndex { $0.output <= offset } - 1)]
    let latest = latest.withLock { $0 }
    return latest.output <= offset && latest.output > kept.output ? latest : kept
  }

  /// Decodes from `place` on, block by block, and advances it. `take` receives each block with the state at its start.
  /// It returns the size of the next block, in bytes of the source, or 0 to stop. A block of 2 KiB or more advances every
  /// decoder.
  private static func decode(
    _ source: any ByteSource, _ range: Range<Int64>, from place: inout Checkpoint, _ blocking: BlockingMode,
    _ take: (Checkpoint, UnsafeRawBufferPointer) -> Int
  ) throws(Fault) {
    let capacity = (64 << 10) / Decoder.growth
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: Decoder.growth * capacity + 16, alignment: 16)
    defer {
      unsafe input.deallocate()
      unsafe output.deallocate()
    }
    var size = unsafe take(place, UnsafeRawBufferPointer(start: nil, count: 0))
    while size > 0 {
      try CancellationToken.check()
      let left = range.upperBound - place.input
      let wanted = Int(min(Int64(min(size, capacity)), left))
      let block = unsafe UnsafeMutableRawBufferPointer(rebasing: input[..<wanted])
      let got = unsafe try source.read(into: block, at: place.input, blocking)
      guard got == wanted else {
        throw Fault(.damaged, "expected \(wanted) bytes, found \(got)", atByte: place.input)
      }
      let isLast = Int64(wanted) == left
      let before = place
      let (used, made) = unsafe place.decoder.decode(UnsafeRawBufferPointer(block), into: output, isLast: isLast)
      size = unsafe take(before, UnsafeRawBufferPointer(rebasing: output[..<made]))
      place.input += Int64(used)
      place.output += Int64(made)
      if isLast { break }
    }
  }
}
