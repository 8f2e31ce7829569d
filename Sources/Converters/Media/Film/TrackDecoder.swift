internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// Makes pictures, samples or text of a stream's packets.
@safe final class TrackDecoder {
  let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: MediaFrame

  /// Of a picture; more are a bomb.
  private static let mostPixels: Int64 = 8192 * 8192

  init(_ stream: UnsafeMutablePointer<AVStream>) throws(JobFailure) {
    let parameters = unsafe stream.pointee.codecpar
    guard let parameters = unsafe parameters,
      let codec = unsafe avcodec_find_decoder(parameters.pointee.codec_id),
      let context = unsafe avcodec_alloc_context3(codec)
    else { throw JobFailure(.unsupported, "has a stream that no installed decoder knows") }
    unsafe self.context = context
    frame = try MediaFrame()
    try unsafe checked(avcodec_parameters_to_context(context, parameters), "has a stream that cannot be decoded")
    unsafe context.pointee.pkt_timebase = unsafe stream.pointee.time_base
    unsafe context.pointee.thread_count = 2
    unsafe context.pointee.max_pixels = Self.mostPixels
    try unsafe checked(avcodec_open2(context, codec, nil), "has a stream that cannot be decoded")
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  /// Calls `body` with each picture, or run of samples; nil is the end. A packet that is damaged is left out.
  func decode(
    _ packet: MediaPacket?, _ body: (MediaFrame) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let sent = unsafe avcodec_send_packet(context, packet.map { unsafe UnsafePointer($0.pointer) })
    if sent == ffmedia_no_memory { throw .noMemory() }
    while true {
      let came = unsafe avcodec_receive_frame(context, frame.pointer)
      if came == ffmedia_no_memory { throw .noMemory() }
      guard came >= 0 else { return }
      unsafe frame.pointer.pointee.pts = unsafe frame.pointer.pointee.best_effort_timestamp
      try body(frame)
      frame.clear()
    }
  }

  /// Forgets what it was in the middle of, after a jump.
  func restart() { unsafe avcodec_flush_buffers(context) }
}
