internal import CFFmpeg
internal import WorkerKit

/// A track whose packets go into another container as they are.
@safe final class CopiedTrack: MadeTrack {
  let source: Int
  private let stream: MediaStream
  private let input: MediaInput
  private let bits: BitFilter?
  private let copy: MediaPacket
  /// The clock of sound whose times its container rounds.
  private let clock: SampleClock?
  /// The unit of all times.
  private let timeBase: AVRational
  private var place = 0
  private var lastTime: Int64?
  private var hasBegun = false
  /// What is taken off all times.
  private var origin: Int64
  /// Sound of which more than half is before is left out: it is what encoders put in front.
  private var earliest: Int64?
  /// In seconds.
  private static let longest = 1e9
  /// When what was copied ends, in seconds.
  private(set) var end = 0.0
  /// Between the order of decoding and that of showing, in pictures.
  private let delay: Int64

  init(_ stream: MediaStream, of input: MediaInput, _ container: FilmContainer) throws(JobFailure) {
    self.stream = stream
    self.input = input
    source = stream.index
    clock = try SampleClock(stream, of: input)
    timeBase = clock?.unit ?? stream.timeBase
    origin = clock?.beginsAtZero == true ? 0 : FilmWindow(of: input).origin(in: timeBase)
    let original = try unsafe input.stream(stream.index)
    delay = Int64(unsafe original.pointee.codecpar.pointee.video_delay)
    bits = try container.bitFilters[stream.codec.rawValue].map { (name) throws(JobFailure) in
      try unsafe BitFilter(name, original)
    }
    copy = try MediaPacket()
  }

  func declare(in output: MediaOutput) throws(JobFailure) {
    let made = try unsafe output.addStream(stream, of: input)
    place = Int(unsafe made.pointee.index)
    // The one that Apple's programs know.
    if stream.codec == AV_CODEC_ID_HEVC, ["mp4", "mov", "ipod"].contains(output.muxer) {
      unsafe made.pointee.codecpar.pointee.codec_tag = 0x3163_7668
    }
  }

  /// Instead of being declared: goes on in the track of another of the same kind, from a time in seconds on.
  func follow(_ other: CopiedTrack, at seconds: Double) {
    place = other.place
    let time = Int64(
      max(0, min(Self.longest, seconds)) * Double(timeBase.den) / Double(max(1, timeBase.num)))
    origin = origin.subtractingReportingOverflow(time).partialValue
    earliest = time
    lastTime = other.lastTime.map { av_rescale_q($0, other.timeBase, timeBase) }
  }

  func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure) {
    guard let packet else { return }
    // Nothing can be shown before a picture that stands alone.
    if !hasBegun, stream.kind == .film, unsafe packet.pointer.pointee.flags & AV_PKT_FLAG_KEY == 0 { return }
    hasBegun = true
    unsafe av_packet_unref(copy.pointer)
    try unsafe checked(av_packet_ref(copy.pointer, packet.pointer), "cannot be copied")
    try bits?.apply(to: copy)
    clock?.time(copy)
    setTimes()
    let duration = max(0, unsafe copy.pointer.pointee.duration)
    let shownEnd = unsafe copy.pointer.pointee.pts &+ duration
    if let earliest, stream.kind == .sound, shownEnd &- duration / 2 <= earliest { return }
    end = max(end, Double(shownEnd) * Double(timeBase.num) / Double(max(1, timeBase.den)))
    try output.write(copy, to: place, timeBase: timeBase)
  }

  /// Containers leave out times that can be told from others, and some recordings go back.
  private func setTimes() {
    var shown = unsafe copy.pointer.pointee.pts
    var decoded = unsafe copy.pointer.pointee.dts
    let duration = max(unsafe copy.pointer.pointee.duration, 0)
    if shown != ffmedia_no_time { shown = shown.subtractingReportingOverflow(origin).partialValue }
    if decoded != ffmedia_no_time {
      decoded = decoded.subtractingReportingOverflow(origin).partialValue
    } else if let lastTime {
      decoded = lastTime &+ max(duration, 1)
    } else {
      decoded = shown == ffmedia_no_time ? 0 : shown &- delay &* max(duration, 1)
    }
    if shown == ffmedia_no_time { shown = decoded }
    if decoded > shown { decoded = shown }
    if let lastTime, decoded <= lastTime, stream.kind != .subtitle {
      decoded = lastTime &+ 1
      shown = max(shown, decoded)
    }
    lastTime = decoded
    unsafe copy.pointer.pointee.pts = shown
    unsafe copy.pointer.pointee.dts = decoded
  }
}

/// Rewrites packets of one codec for another container.
@safe final class BitFilter {
  private let context: UnsafeMutablePointer<AVBSFContext>

  init(_ name: String, _ stream: UnsafeMutablePointer<AVStream>) throws(JobFailure) {
    var made: UnsafeMutablePointer<AVBSFContext>?
    try unsafe checked(av_bsf_alloc(av_bsf_get_by_name(name), &made), "cannot be copied")
    guard let made = unsafe made else { throw .noMemory() }
    unsafe context = made
    try unsafe checked(avcodec_parameters_copy(made.pointee.par_in, stream.pointee.codecpar), "cannot be copied")
    unsafe made.pointee.time_base_in = unsafe stream.pointee.time_base
    try unsafe checked(av_bsf_init(made), "cannot be copied")
  }

  deinit {
    var last: UnsafeMutablePointer<AVBSFContext>? = unsafe context
    unsafe av_bsf_free(&last)
  }

  /// One packet for one; of those that are put together with the next, the bytes are left as they are.
  func apply(to packet: MediaPacket) throws(JobFailure) {
    try unsafe checked(av_bsf_send_packet(context, packet.pointer), "cannot be copied")
    let came = unsafe av_bsf_receive_packet(context, packet.pointer)
    if came != ffmedia_again { try checked(came, "cannot be copied") }
  }
}
