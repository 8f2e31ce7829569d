internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// Makes pictures, samples or text of a stream's packets; samples that a container says are padding are left out.
@safe final class MediaDecoder {
  let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: MediaFrame

  /// Of a picture; more are a bomb.
  private static let mostPixels: Int64 = 8192 * 8192

  /// `keepsPadding`: whether padding comes, too.
  init(_ stream: MediaStream, of input: MediaInput, keepsPadding: Bool = false) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    guard let codec = unsafe avcodec_find_decoder(stream.codec) else {
      throw JobFailure(.unsupported, "has \(stream.kind.word) as \(stream.codecName), which is not decoded here")
    }
    frame = try MediaFrame()
    guard let context = unsafe avcodec_alloc_context3(codec) else { throw .noMemory() }
    unsafe self.context = context
    let failure = "has \(stream.kind.word) as \(stream.codecName) that cannot be decoded"
    try unsafe checked(avcodec_parameters_to_context(context, original.pointee.codecpar), failure)
    // A transport stream may name another layer of MPEG's sound once more of it is read.
    unsafe context.pointee.codec_id = stream.codec
    unsafe context.pointee.pkt_timebase = stream.timeBase
    // Sound is decoded faster than threads hand it to one another.
    unsafe context.pointee.thread_count = stream.kind == .sound ? 1 : 2
    unsafe context.pointee.max_pixels = Self.mostPixels
    if keepsPadding { unsafe context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL }
    try unsafe checked(avcodec_open2(context, codec, nil), failure)
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  /// Calls `body` with each picture or run of samples that a packet decodes to, with its best known time, or at the end, for
  /// nil, with what is left. A damaged packet gives nothing; false if it was one.
  @discardableResult
  func decode(_ packet: MediaPacket?, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) -> Bool {
    let sent = unsafe avcodec_send_packet(context, packet?.pointer)
    if sent == ffmedia_no_memory, JobFailure.isMemoryShort { throw .noMemory() }
    while true {
      let came = unsafe avcodec_receive_frame(context, frame.pointer)
      if came == ffmedia_no_memory, JobFailure.isMemoryShort { throw .noMemory() }
      guard came >= 0 else { return sent >= 0 && (came == ffmedia_again || came == ffmedia_end) }
      unsafe frame.pointer.pointee.pts = unsafe frame.pointer.pointee.best_effort_timestamp
      try body(frame)
      frame.clear()
    }
  }

  /// Forgets what came before: for a place elsewhere.
  func restart() { unsafe avcodec_flush_buffers(context) }
}
