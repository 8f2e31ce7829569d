internal import WorkerKit

/// A muxer's output that is written from the first byte to the last, though the muxer goes back: see `SealedLayout`.
final class SealedDoor: ContainerDoor {
  /// Of what was written.
  private(set) var count: Int64 = 0
  /// Of the first pass.
  private(set) var layout = SealedLayout()
  /// nil in the first pass.
  private let second: (layout: SealedLayout, index: (bytes: [UInt8], place: Int64)?, output: JobOutput)?
  /// How far the muxer has come.
  private var reached: Int64 = 0

  /// The first pass, which writes nothing.
  init() { second = nil }

  /// The second. `hasIndexFirst`: whether a film's index is put before the film.
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
    // What is filled in was written right before.
    let old = Int(max(0, min(Int64(bytes.count), reached - place)))
    // The index itself is what is at the end.
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

  /// Writes bytes that have a place, and the index where it belongs among them.
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
