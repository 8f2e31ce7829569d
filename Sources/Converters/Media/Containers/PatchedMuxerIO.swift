internal import WorkerKit

/// A muxer's output that is written sequentially, although the muxer seeks back. See `SealedLayout`.
final class PatchedMuxerIO: MuxerIO {
  /// The number of bytes written.
  private(set) var count: Int64 = 0
  /// The layout that the first pass records.
  private(set) var layout = SealedLayout()
  /// The parameters of the second pass. `nil` in the first pass.
  private let second: (layout: SealedLayout, index: (bytes: [UInt8], place: Int64)?, output: JobOutput)?
  /// The end of the muxer's output so far.
  private var reached: Int64 = 0

  /// Creates the output of the first pass, which writes nothing.
  init() { second = nil }

  /// Creates the output of the second pass. `hasIndexFirst` moves a video's index before the packets.
  init(_ layout: SealedLayout, hasIndexFirst: Bool, to output: JobOutput) {
    second = (layout, hasIndexFirst ? layout.movableIndex() : nil, output)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(JobFailure) {
    defer { reached = max(reached, place + Int64(bytes.count)) }
    guard let second else { return unsafe layout.note(bytes, at: place) }
    unsafe try write(bytes, at: place, second.layout, second.index, to: second.output)
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, at place: Int64, _ layout: SealedLayout, _ index: (bytes: [UInt8], place: Int64)?,
    to output: JobOutput
  ) throws(JobFailure) {
    // Bytes that the muxer fills in later were already written with their final values.
    let old = Int(max(0, min(Int64(bytes.count), reached - place)))
    // The index is at the end of the muxer's output.
    let end = layout.size - Int64(index?.bytes.count ?? 0)
    let range = place + Int64(old)..<max(place + Int64(old), min(place + Int64(bytes.count), end))
    if range.isEmpty { return }
    let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[old..<Int(range.upperBound - place)])
    let patches = layout.patches.filter { range.overlaps($0.place..<$0.place + Int64($0.bytes.count)) }
    if patches.isEmpty { return try unsafe put(piece.bytes, range, index, to: output) }
    var new = unsafe Array(piece)
    for patch in patches {
      let first = Int(patch.place - range.lowerBound)
      for offset in max(0, -first)..<min(patch.bytes.count, new.count - first) {
        new[first + offset] = patch.bytes[offset]
      }
    }
    try unsafe put(new.span.bytes, range, index, to: output)
  }

  /// Writes the bytes of a range, and the index at its offset if that is in the range.
  private func put(
    _ bytes: RawSpan, _ range: Range<Int64>, _ index: (bytes: [UInt8], place: Int64)?, to output: JobOutput
  ) throws(JobFailure) {
    guard let index, range.contains(index.place) else { return try put(bytes, to: output) }
    let before = Int(index.place - range.lowerBound)
    try put(bytes.extracting(..<before), to: output)
    try unsafe put(index.bytes.span.bytes, to: output)
    try put(bytes.extracting(before...), to: output)
  }

  private func put(_ bytes: RawSpan, to output: JobOutput) throws(JobFailure) {
    if bytes.isEmpty { return }
    try output.write(bytes)
    count += Int64(bytes.byteCount)
  }
}
