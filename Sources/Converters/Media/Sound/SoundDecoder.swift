internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// Decodes one sound, packet by packet; the samples that a container says are padding are left out.
@safe final class SoundDecoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: MediaFrame

  /// `keepsPadding`: whether the samples come that a container says are padding.
  init(_ stream: MediaStream, of input: MediaInput, keepsPadding: Bool = false) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    guard let decoder = unsafe avcodec_find_decoder(stream.codec) else {
      throw JobFailure(.unsupported, "has sound as \(stream.codecName), which is not decoded here")
    }
    guard let made = unsafe avcodec_alloc_context3(decoder) else { throw .noMemory() }
    unsafe context = made
    frame = try MediaFrame()
    try unsafe checked(avcodec_parameters_to_context(made, original.pointee.codecpar), "has sound that is damaged")
    unsafe made.pointee.pkt_timebase = stream.timeBase
    // Sound is decoded faster than threads hand it to one another.
    unsafe made.pointee.thread_count = 1
    if keepsPadding { unsafe made.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL }
    try unsafe checked(avcodec_open2(made, decoder, nil), "has sound that cannot be decoded")
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  /// Forgets what came before: for a place elsewhere.
  func restart() { unsafe avcodec_flush_buffers(context) }

  /// Calls `body` with what a packet decodes to, or at the end, for nil, with what is left. A damaged packet gives
  /// nothing; false if it was one.
  @discardableResult
  func decode(
    _ packet: MediaPacket?, _ body: (MediaFrame, SoundShape) throws(JobFailure) -> Void
  ) throws(JobFailure) -> Bool {
    let sent = unsafe avcodec_send_packet(context, packet?.pointer)
    if sent == ffmedia_no_memory { throw .noMemory() }
    while true {
      let came = unsafe avcodec_receive_frame(context, frame.pointer)
      if came == ffmedia_no_memory { throw .noMemory() }
      guard came >= 0 else { return sent >= 0 && (came == ffmedia_again || came == ffmedia_end) }
      if let shape = frame.shape, frame.sampleCount > 0 { try body(frame, shape) }
    }
  }
}
