internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A decoder of a stream's packets into pictures, samples or text. It drops samples that the container marks as
/// padding.
@safe final class MediaDecoder {
  let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: MediaFrame

  /// The maximum number of pixels in a picture. More indicate a decompression bomb.
  private static let mostPixels: Int64 = 8192 * 8192

  /// Opens the decoder. `keepsPadding` keeps samples that are padding.
  init(_ stream: MediaStream, of input: MediaInput, keepsPadding: Bool = false) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    guard let codec = unsafe avcodec_find_decoder(stream.codec) else {
      throw JobFailure(.unsupported, "has \(stream.kind.word) as \(stream.codecName), which has no decoder")
    }
    frame = try MediaFrame()
    guard let context = unsafe avcodec_alloc_context3(codec) else { throw .noMemory() }
    unsafe self.context = context
    let failure = "has \(stream.kind.word) as \(stream.codecName) that cannot be decoded"
    try unsafe checked(avcodec_parameters_to_context(context, original.pointee.codecpar), failure)
    // A transport stream can name another MPEG audio layer after more of it has been read.
    unsafe context.pointee.codec_id = stream.codec
    unsafe context.pointee.pkt_timebase = stream.timeBase
    // Audio is decoded faster than threads can exchange it.
    unsafe context.pointee.thread_count = stream.kind == .sound ? 1 : 2
    unsafe context.pointee.max_pixels = Self.mostPixels
    if keepsPadding { unsafe context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL }
    try unsafe checked(avcodec_open2(context, codec, nil), failure)
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  /// Calls `body` with each frame that a packet decodes to, with its best known time. `nil` flushes the decoder at the
  /// end. Returns false if the packet is damaged. Such a packet yields no frames.
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

  /// Discards the decoder's state, to continue at another position.
  func restart() { unsafe avcodec_flush_buffers(context) }
}
