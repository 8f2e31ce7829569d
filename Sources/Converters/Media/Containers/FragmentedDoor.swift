internal import WorkerKit

/// The output of a film in fragments that is read while it is made, with a `FragmentIndex` before them.
///
/// The index is written again with each fragment, and when the film is whole; nothing else changes. Each writing leaves as
/// many bytes as there were, so that who reads the beginning sooner and the rest later has a film that can be played.
final class FragmentedDoor: ContainerDoor {
  private let output: JobOutput
  private let announced: Int64
  private let seconds: Double
  private(set) var count: Int64 = 0
  private var track: FragmentTrack?
  private var index: FragmentIndex?
  /// Where the index is, and where it ends.
  private var place: Int64 = 0
  private var start: Int64 = 0
  /// When the last fragment ends.
  private var end: Int64 = 0
  /// Of a box that is wanted as a whole, or its head.
  private var held: [UInt8] = []
  /// Bytes to come of a box that is not.
  private var rest: UInt64 = 0

  /// - Parameters:
  ///   - announced: how many bytes the file is said to have before it is whole.
  ///   - seconds: how long the film is.
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

  /// How many bytes have to be held before anything can be done.
  private var missing: Int {
    guard held.count >= 8 else { return 8 - held.count }
    let size = Int(clamping: size)
    return isWanted && size > held.count ? size - held.count : size == 1 && held.count < 16 ? 16 - held.count : 0
  }

  /// As the head says that is held.
  private var size: UInt64 {
    var reader = BoxReader(held[...])
    let size = reader.number(4)
    guard size == 1 else { return size }
    reader.skip(4)
    return held.count < 16 ? 1 : reader.number(8)
  }

  private func passHeld() throws(JobFailure) {
    let box = held
    // What has no end goes on to the last byte.
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
