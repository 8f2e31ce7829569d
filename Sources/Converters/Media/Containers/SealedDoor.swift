internal import CFFmpeg
internal import Glibc
internal import WorkerKit

/// A muxer's output that is written from the first byte to the last, though the muxer goes back: see `SealedLayout`.
@safe final class SealedDoor: ContainerDoor {
  let stream: UnsafeMutablePointer<AVIOContext>
  private(set) var failure: JobFailure?
  private(set) var count: Int64 = 0
  /// Of the first pass.
  private(set) var layout = SealedLayout()
  /// nil in the first pass.
  private let second: (layout: SealedLayout, index: (bytes: [UInt8], place: Int64)?, output: JobOutput)?
  private var place: Int64 = 0
  /// How far the muxer has come.
  private var reached: Int64 = 0

  /// The first pass, which writes nothing.
  convenience init() throws(JobFailure) { try self.init(second: nil) }

  /// The second. `hasIndexFirst`: whether a film's index is put before the film.
  convenience init(_ layout: SealedLayout, hasIndexFirst: Bool, to output: JobOutput) throws(JobFailure) {
    try self.init(second: (layout, hasIndexFirst ? layout.movableIndex() : nil, output))
  }

  private init(
    second: (layout: SealedLayout, index: (bytes: [UInt8], place: Int64)?, output: JobOutput)?
  ) throws(JobFailure) {
    self.second = second
    guard let buffer = unsafe av_malloc(InputDoor.bufferSize) else { throw .noMemory() }
    let stream = unsafe avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(InputDoor.bufferSize), 1, nil, nil,
      { unsafe SealedDoor.door(of: $0)?.write($1, $2) ?? -1 },
      { unsafe SealedDoor.door(of: $0)?.seek($1, $2) ?? -1 })
    guard let stream = unsafe stream else {
      unsafe av_free(buffer)
      throw .noMemory()
    }
    unsafe self.stream = stream
    unsafe stream.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    unsafe av_freep(&stream.pointee.buffer)
    var last: UnsafeMutablePointer<AVIOContext>? = unsafe stream
    unsafe avio_context_free(&last)
  }

  private static func door(of user: UnsafeMutableRawPointer?) -> SealedDoor? {
    unsafe user.map { unsafe Unmanaged<SealedDoor>.fromOpaque($0).takeUnretainedValue() }
  }

  private func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
    switch origin & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return reached
    case SEEK_SET: place = max(0, offset)
    case SEEK_CUR: place = max(0, place.addingReportingOverflow(offset).partialValue)
    case SEEK_END: place = max(0, reached.addingReportingOverflow(offset).partialValue)
    default: return -1
    }
    return place
  }

  private func write(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
    let all = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
    defer {
      place += Int64(count)
      reached = max(reached, place)
    }
    guard let second else {
      unsafe layout.note(all, at: place)
      return count
    }
    do throws(JobFailure) { try unsafe write(all, second.layout, second.index, to: second.output) } catch {
      failure = error
      return ffmedia_error(EIO)
    }
    return count
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, _ layout: SealedLayout, _ index: (bytes: [UInt8], place: Int64)?,
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
