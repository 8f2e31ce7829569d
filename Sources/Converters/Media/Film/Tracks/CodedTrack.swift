internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A video or audio track that is decoded, changed and encoded again.
@safe class CodedTrack: MadeTrack {
  let source: Int
  let stream: MediaStream
  let encoder: MediaEncoder
  /// The remarks on the result.
  let remarks: [String]
  /// The number of seconds added to all packet times.
  var shift = 0.0
  /// The delay added to frame times in a track that follows another, in the encoder's units.
  private var delay: Int64 = 0
  /// Whether the encoder ends with this track.
  var endsEncoder = true
  /// The latest frame time that was encoded, including the delay.
  private(set) final var latest: Int64?
  private(set) final var isDone = false
  private let decoder: MediaDecoder
  private let filters: FilterChain
  private var times: RunningTime
  private let end: Double?
  private var place = 0
  private var isEmpty = true

  /// Creates a track. `encoder` must be open.
  init(
    _ stream: MediaStream, of input: MediaInput, _ encoder: MediaEncoder, _ filters: FilterChain, _ window: FilmWindow,
    _ remarks: [String]
  ) throws(JobFailure) {
    self.stream = stream
    self.encoder = encoder
    self.filters = filters
    self.remarks = remarks
    source = stream.index
    decoder = try MediaDecoder(stream, of: input)
    times = RunningTime(from: window.origin(in: stream.timeBase), in: stream.timeBase)
    end = window.end
  }

  // MARK: Differences between video and audio

  /// Sets additional properties of the new stream.
  func describe(_ made: UnsafeMutablePointer<AVStream>) {}
  /// Returns the unit of a frame's time in the filters. Returns `nil` if the frame is omitted.
  func timeBase(of frame: MediaFrame) -> AVRational? { nil }
  /// Returns a frame's start in that unit. Returns `nil` if the container's time applies.
  func ownTime(of frame: MediaFrame, in base: AVRational) -> Int64? { nil }
  /// Returns the first filter's parameters for a frame.
  func entry(of frame: MediaFrame) -> String { "" }
  /// Completes an encoded packet. Returns false if the packet is omitted.
  func complete(_ packet: MediaPacket) -> Bool { true }

  // MARK: Common operations

  final func declare(in output: MediaOutput) throws(JobFailure) {
    let made = try unsafe output.addStream(from: encoder.context, tags: stream.tags)
    unsafe made.pointee.disposition = stream.isDefault ? AV_DISPOSITION_DEFAULT : 0
    unsafe describe(made)
    place = Int(unsafe made.pointee.index)
  }

  /// Continues a track of the same encoder, from a time in its units on. Replaces `declare`.
  final func follow(_ other: CodedTrack, at time: Int64) {
    place = other.place
    delay = time
    latest = other.latest
  }

  final func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure) {
    if isDone { return }
    try decoder.decode(packet) { (frame) throws(JobFailure) in try take(frame, output) }
    guard packet == nil else { return }
    if isEmpty, stream.kind == .film { throw JobFailure(.damaged, "has no picture that can be decoded") }
    try finish(output)
  }

  private func take(_ frame: MediaFrame, _ output: MediaOutput) throws(JobFailure) {
    guard !isDone, let base = timeBase(of: frame) else { return }
    let time = unsafe frame.pointer.pointee.pts
    let told = time == ffmedia_no_time ? nil : time
    if let shown = ownTime(of: frame, in: base) ?? told.map({ av_rescale_q(times.place($0), stream.timeBase, base) }) {
      unsafe frame.pointer.pointee.pts = shown
      if let end, Double(shown) * Double(base.num) / Double(max(1, base.den)) > end { return try finish(output) }
    }
    unsafe frame.pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
    try filters.filter(frame, entry: entry(of: frame)) { (made, base) throws(JobFailure) in
      try code(made, base, output)
    }
    isEmpty = false
  }

  private func finish(_ output: MediaOutput) throws(JobFailure) {
    try filters.finish { (made, base) throws(JobFailure) in try code(made, base, output) }
    if endsEncoder { try code(nil, encoder.timeBase, output) }
    isDone = true
  }

  private func code(_ frame: MediaFrame?, _ base: AVRational, _ output: MediaOutput) throws(JobFailure) {
    if let frame {
      let time = unsafe av_rescale_q(frame.pointer.pointee.pts, base, encoder.timeBase) &+ delay
      unsafe frame.pointer.pointee.pts = time
      latest = max(latest ?? time, time)
      unsafe frame.pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
      // Some encoders would use the value that the decoder left.
      unsafe frame.pointer.pointee.quality = encoder.context.pointee.global_quality
    }
    try encoder.encode(frame) { (packet) throws(JobFailure) in
      packet.delay(by: shift, encoder.timeBase)
      if complete(packet) { try output.write(packet, to: place, timeBase: encoder.timeBase) }
    }
  }
}
