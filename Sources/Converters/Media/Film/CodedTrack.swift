internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A track that is decoded, changed and coded again; of pictures or of sound.
@safe class CodedTrack: MadeTrack {
  let source: Int
  let stream: MediaStream
  let encoder: MediaEncoder
  /// What is to be said of the result.
  let remarks: [String]
  /// Added to all times, in seconds.
  var shift = 0.0
  /// Added to the times of what is coded, in the encoder's units: where it follows another.
  private var delay: Int64 = 0
  /// Whether nothing is coded after it.
  var endsEncoder = true
  /// The latest time of what was coded, with that.
  private(set) final var latest: Int64?
  private(set) final var isDone = false
  private let decoder: MediaDecoder
  private let filters: FilterChain
  private var times: RunningTime
  private let end: Double?
  private var place = 0
  private var isEmpty = true

  /// `encoder`: open.
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

  // MARK: What pictures and sound differ in

  /// Tells more of the stream that is made.
  func describe(_ made: UnsafeMutablePointer<AVStream>) {}
  /// The unit of a frame's time among the filters; nil for what is left out.
  func timeBase(of frame: MediaFrame) -> AVRational? { nil }
  /// When a frame begins in that unit, if not at the time that the container says.
  func ownTime(of frame: MediaFrame, in base: AVRational) -> Int64? { nil }
  /// What comes in, as the first filter has it.
  func entry(of frame: MediaFrame) -> String { "" }
  /// Adds what is missing in a packet that is coded; false for one that is left out.
  func complete(_ packet: MediaPacket) -> Bool { true }

  // MARK: What they share

  final func declare(in output: MediaOutput) throws(JobFailure) {
    let made = try unsafe output.addStream(from: encoder.context, tags: stream.tags)
    unsafe made.pointee.disposition = stream.isDefault ? AV_DISPOSITION_DEFAULT : 0
    unsafe describe(made)
    place = Int(unsafe made.pointee.index)
  }

  /// Instead of being declared: goes on in a track of the same encoder, from a time in its units on.
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
      // The decoder left its own there, which some encoders would take.
      unsafe frame.pointer.pointee.quality = encoder.context.pointee.global_quality
    }
    try encoder.encode(frame) { (packet) throws(JobFailure) in
      packet.delay(by: shift, encoder.timeBase)
      if complete(packet) { try output.write(packet, to: place, timeBase: encoder.timeBase) }
    }
  }
}
