internal import CFFmpeg
internal import WorkerKit

/// A track of text subtitles that are converted into another format.
@safe final class CodedText: MadeTrack {
  let source: Int
  private let stream: MediaStream
  private let decoder: MediaDecoder
  private let encoder: MediaEncoder
  private let window: FilmWindow
  private let packet: MediaPacket
  private var place = 0
  private var lastEnd: Int64 = 0

  private static let timeBase = AVRational(num: 1, den: 1000)
  private static let longest = 1 << 16

  init(_ stream: MediaStream, of input: MediaInput, _ name: String, _ window: FilmWindow) throws(JobFailure) {
    self.stream = stream
    self.window = window
    source = stream.index
    decoder = try MediaDecoder(stream, of: input)
    encoder = try MediaEncoder(name, hasGlobalHeader: true)
    packet = try MediaPacket()
    let header = unsafe decoder.context.pointee.subtitle_header
    let size = Int(unsafe decoder.context.pointee.subtitle_header_size)
    if let header = unsafe header, size > 0 {
      guard let copy = unsafe av_mallocz(size + 1)?.assumingMemoryBound(to: UInt8.self) else { throw .noMemory() }
      unsafe copy.update(from: header, count: size)
      unsafe encoder.context.pointee.subtitle_header = copy
      unsafe encoder.context.pointee.subtitle_header_size = Int32(size)
    }
    unsafe encoder.context.pointee.time_base = Self.timeBase
    try encoder.open()
  }

  func declare(in output: MediaOutput) throws(JobFailure) {
    let made = try unsafe output.addStream(from: encoder.context, tags: stream.tags)
    unsafe made.pointee.disposition =
      stream.isDefault ? AV_DISPOSITION_DEFAULT : 0
    place = Int(unsafe made.pointee.index)
  }

  func take(_ input: MediaPacket?, _ output: MediaOutput) throws(JobFailure) {
    guard let input else { return }
    var text = unsafe AVSubtitle()
    var isThere: Int32 = 0
    guard unsafe avcodec_decode_subtitle2(decoder.context, &text, &isThere, input.pointer) >= 0, isThere != 0 else {
      return
    }
    defer { unsafe avsubtitle_free(&text) }
    guard let (start, end) = unsafe times(of: input, text) else { return }
    unsafe text.pts = 0
    unsafe text.start_display_time = 0
    unsafe text.end_display_time = UInt32(clamping: end - start)
    guard let buffer = unsafe av_malloc(Self.longest)?.assumingMemoryBound(to: UInt8.self) else { throw .noMemory() }
    let count = unsafe avcodec_encode_subtitle(encoder.context, buffer, Int32(Self.longest), &text)
    guard count > 0 else {
      unsafe av_free(buffer)
      return
    }
    packet.clear()
    guard unsafe av_new_packet(packet.pointer, count) >= 0 else {
      unsafe av_free(buffer)
      throw .noMemory()
    }
    unsafe packet.pointer.pointee.data.update(from: buffer, count: Int(count))
    unsafe av_free(buffer)
    unsafe packet.pointer.pointee.pts = start
    unsafe packet.pointer.pointee.dts = start
    unsafe packet.pointer.pointee.duration = end - start
    unsafe packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
    try output.write(packet, to: place, timeBase: Self.timeBase)
  }

  /// Returns the start and end in the result, in milliseconds. Returns `nil` if the text is outside the requested part.
  private func times(of input: MediaPacket, _ text: AVSubtitle) -> (Int64, Int64)? {
    let shown = unsafe input.pointer.pointee.pts
    guard shown != ffmedia_no_time else { return nil }
    let time = av_rescale_q(
      shown.subtractingReportingOverflow(window.origin(in: stream.timeBase)).partialValue, stream.timeBase,
      Self.timeBase)
    var duration = av_rescale_q(max(0, unsafe input.pointer.pointee.duration), stream.timeBase, Self.timeBase)
    if duration == 0, unsafe text.end_display_time != .max { duration = Int64(unsafe text.end_display_time) }
    let first = Int64(window.start * 1000)
    let last = window.end.map { Int64($0 * 1000) } ?? .max
    guard time < last, time.addingReportingOverflow(duration).partialValue > first || duration == 0 else { return nil }
    func scaled(_ time: Int64) -> Int64 { Int64(Double(max(0, min(time, last) - first)) / window.speed) }
    let start = max(scaled(time), lastEnd)
    lastEnd = start
    return (start, max(start, scaled(time &+ duration)))
  }
}
