internal import WorkerKit

/// The output of a fragmented video file that is read during the conversion, with a `FragmentIndex` before the
/// fragments.
///
/// The index is rewritten with each fragment and at the end. No other bytes change, and the index keeps its size. A
/// client that reads the beginning earlier than the rest therefore gets a playable file.
final class FragmentedMuxerIO: MuxerIO {
  private let output: JobOutput
  private let announced: Int64
  private let seconds: Double
  private(set) var count: Int64 = 0
  private var track: FragmentTrack?
  private var index: FragmentIndex?
  /// The offsets of the index and of its end.
  private var place: Int64 = 0
  private var start: Int64 = 0
  /// The end time of the last fragment.
  private var end: Int64 = 0
  /// The bytes of a box that is needed as a whole, or of a box's header.
  private var held: [UInt8] = []
  /// The number of bytes to come of a box that is passed on unread.
  private var rest: UInt64 = 0

  /// - Parameters:
  ///   - announced: the size that is reported for the file until it is complete, in bytes.
  ///   - seconds: the length of the video.
  init(_ output: JobOutput, announced: Int64, seconds: Double) {
    self.output = output
    self.announced = announced
    self.seconds = seconds
  }

  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(JobFailure) {
    var done = 0
    while done < bytes.count {
      let start = done
      if rest > 0 {
        done += min(bytes.count - done, Int(clamping: rest))
        try unsafe put(bytes.bytes.extracting(start..<done))
        rest -= UInt64(done - start)
      } else {
        done += min(bytes.count - done, missing)
        unsafe held += bytes[start..<done]
        if missing == 0 { try passHeld() }
      }
    }
  }

  private var isWanted: Bool {
    let name = held.dropFirst(4).prefix(4)
    return name.elementsEqual("moov".utf8) || name.elementsEqual("moof".utf8)
  }

  /// The number of bytes missing from `held` before it can be processed.
  private var missing: Int {
    guard held.count >= 8 else { return 8 - held.count }
    let size = Int(clamping: size)
    return isWanted && size > held.count ? size - held.count : size == 1 && held.count < 16 ? 16 - held.count : 0
  }

  /// The size of the box, from the header in `held`.
  private var size: UInt64 {
    var reader = BoxReader(held[...])
    let size = reader.number(4)
    guard size == 1 else { return size }
    reader.skip(4)
    return held.count < 16 ? 1 : reader.number(8)
  }

  private func passHeld() throws(JobFailure) {
    let box = held
    // A box without a size extends to the end of the file.
    rest = isWanted ? 0 : size == 0 ? .max : max(size, UInt64(box.count)) - UInt64(box.count)
    held = []
    let body = box.dropFirst(8)
    let name = String(decoding: box.prefix(8).suffix(4), as: UTF8.self)
    if name == "moof", let track, let fragment = Fragment(of: track, body) {
      index?.add(fragment, at: count - start)
      end = fragment.end
      try writeIndex(upTo: announced)
    }
    try unsafe put(box.span.bytes)
    if name == "moov", index == nil, let found = FragmentTrack(of: body) {
      let made = FragmentIndex(found, seconds: seconds)
      (track, index, place) = (found, made, count)
      count += Int64(made.size)
      start = count
      try writeIndex(upTo: announced)
    }
  }

  private func put(_ bytes: RawSpan) throws(JobFailure) {
    try output.write(bytes, at: count)
    count += Int64(bytes.byteCount)
  }

  private func writeIndex(upTo size: Int64, time: Int64? = nil) throws(JobFailure) {
    guard let index else { return }
    let bytes = index.bytes(upTo: size - start, time: time)
    try unsafe output.write(bytes.span.bytes, at: place)
  }

  func finish() throws(JobFailure) { try writeIndex(upTo: count, time: end) }
}
