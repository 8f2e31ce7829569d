internal import CFFmpeg
internal import WorkerKit

/// A track whose packets are copied into another container.
@safe final class CopiedTrack: MadeTrack {
  let source: Int
  private let stream: MediaStream
  private let input: MediaInput
  private let bits: BitFilter?
  private let copy: MediaPacket
  /// The clock of audio whose times its container rounds.
  private let clock: SampleClock?
  /// The unit of all times.
  private let timeBase: AVRational
  private var place = 0
  private var lastTime: Int64?
  private var hasBegun = false
  /// The time that is subtracted from all times.
  private var origin: Int64
  /// The start of a track that follows another. Audio packets more than half of which precede it are dropped, since
  /// they are encoder delay.
  private var earliest: Int64?
  /// The maximum time, in seconds.
  private static let longest = 1e9
  /// The end of the copied packets, in seconds.
  private(set) var end = 0.0
  /// The difference between decoding order and display order, in pictures.
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
    // The tag that Apple's programs support.
    if stream.codec == AV_CODEC_ID_HEVC, ["mp4", "mov", "ipod"].contains(output.muxer) {
      unsafe made.pointee.codecpar.pointee.codec_tag = 0x3163_7668
    }
  }

  /// Continues another track of the same kind, from a time in seconds on. Replaces `declare`.
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
    // Nothing can be shown before the first key frame.
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

  /// Completes and corrects the packet's times. Containers omit times that can be derived from others, and some
  /// recordings jump back.
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

/// A filter that rewrites packets of one codec for another container.
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

  /// Filters a packet. A packet that is merged with the next one keeps its bytes.
  func apply(to packet: MediaPacket) throws(JobFailure) {
    try unsafe checked(av_bsf_send_packet(context, packet.pointer), "cannot be copied")
    let came = unsafe av_bsf_receive_packet(context, packet.pointer)
    if came != ffmedia_again { try checked(came, "cannot be copied") }
  }
}
