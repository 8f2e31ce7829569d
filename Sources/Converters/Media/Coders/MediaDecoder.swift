internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A decoder of a stream's packets into pictures, samples or text. It drops samples that the container marks as
/// padding.
@safe final class MediaDecoder {
  private(set) var context: UnsafeMutablePointer<AVCodecContext>
  private let frame: MediaFrame
  private let stream: MediaStream
  private let input: MediaInput
  private let keepsPadding: Bool
  /// The number of the file that the decoder was opened for, among several in a row.
  private var link = 0

  /// The maximum number of pixels in a picture. More indicate a decompression bomb.
  private static let mostPixels: Int64 = 8192 * 8192

  /// Opens the decoder. `keepsPadding` keeps samples that are padding.
  init(_ stream: MediaStream, of input: MediaInput, keepsPadding: Bool = false) throws(JobFailure) {
    (self.stream, self.input, self.keepsPadding) = (stream, input, keepsPadding)
    frame = try MediaFrame()
    // A transport stream can name another MPEG audio layer after more of it has been read.
    unsafe context = try unsafe Self.open(stream, input.stream(stream.index), stream.codec, keepsPadding)
  }

  private static func open(
    _ stream: MediaStream, _ original: UnsafeMutablePointer<AVStream>, _ codecID: AVCodecID, _ keepsPadding: Bool
  ) throws(JobFailure) -> UnsafeMutablePointer<AVCodecContext> {
    let name = unsafe String(cString: avcodec_get_name(codecID))
    guard let codec = unsafe decoder(of: codecID) else {
      throw JobFailure(.unsupported, "has \(stream.kind.word) as \(name), which has no decoder")
    }
    var made = unsafe avcodec_alloc_context3(codec)
    guard let context = unsafe made else { throw .noMemory() }
    do throws(JobFailure) {
      let failure = "has \(stream.kind.word) as \(name) that cannot be decoded"
      try unsafe checked(avcodec_parameters_to_context(context, original.pointee.codecpar), failure)
      unsafe set(context, stream, codecID, keepsPadding)
      try unsafe checked(avcodec_open2(context, codec, nil), failure)
    } catch {
      unsafe avcodec_free_context(&made)
      throw error
    }
    return unsafe context
  }

  /// Returns the decoder of a codec. FFmpeg 7's own decoder of Speex returns wideband frames twice as long as they are.
  private static func decoder(of codecID: AVCodecID) -> UnsafePointer<AVCodec>? {
    if codecID == AV_CODEC_ID_SPEEX, let library = unsafe avcodec_find_decoder_by_name("libspeex") {
      return unsafe library
    }
    return unsafe avcodec_find_decoder(codecID)
  }

  /// The codecs whose packets have checksums that are checked. Others report false errors.
  private static let checksummed: Set = [
    AV_CODEC_ID_FLAC.rawValue, AV_CODEC_ID_WAVPACK.rawValue, AV_CODEC_ID_TTA.rawValue,
  ]

  private static func set(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ stream: MediaStream, _ codecID: AVCodecID, _ keepsPadding: Bool
  ) {
    unsafe context.pointee.codec_id = codecID
    unsafe context.pointee.pkt_timebase = stream.timeBase
    if checksummed.contains(codecID.rawValue) {
      unsafe context.pointee.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
    }
    // Audio is decoded faster than threads can exchange it.
    unsafe context.pointee.thread_count = stream.kind == .sound ? 1 : 2
    unsafe context.pointee.max_pixels = mostPixels
    if keepsPadding { unsafe context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL }
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  /// Calls `body` with each frame that a packet decodes to, with its best known time. `nil` flushes the decoder at the
  /// end. Returns false if the packet is damaged. Such a packet yields no frames.
  @discardableResult
  func decode(_ packet: MediaPacket?, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) -> Bool {
    if let packet, packet.link != link {
      try decode(nil, body)
      let original = try unsafe input.stream(stream.index)
      let next = unsafe try Self.open(stream, original, original.pointee.codecpar.pointee.codec_id, keepsPadding)
      var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
      unsafe avcodec_free_context(&last)
      unsafe context = next
      link = packet.link
    }
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
