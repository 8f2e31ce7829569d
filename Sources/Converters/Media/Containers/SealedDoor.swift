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
    guard old < bytes.count else { return }
    let start = place + Int64(old)
    var new = unsafe Array(bytes[old...])
    for patch in layout.patches where patch.place < start + Int64(new.count) {
      let first = Int(patch.place - start)
      for offset in max(0, -first)..<max(0, -first, patch.bytes.count) where first + offset < new.count {
        new[first + offset] = patch.bytes[offset]
      }
    }
    guard let index else { return try put(new[...], to: output) }
    // The index itself is what is at the end.
    let end = layout.size - Int64(index.bytes.count)
    new = Array(new.prefix(Int(max(0, min(Int64(new.count), end - start)))))
    let before = Int(max(0, min(Int64(new.count), index.place - start)))
    try put(new[..<before], to: output)
    if start <= index.place, index.place < start + Int64(new.count) { try put(index.bytes[...], to: output) }
    try put(new[before...], to: output)
  }

  private func put(_ bytes: ArraySlice<UInt8>, to output: JobOutput) throws(JobFailure) {
    guard !bytes.isEmpty else { return }
    try unsafe output.write(bytes.span.bytes)
    count += Int64(bytes.count)
  }
}
