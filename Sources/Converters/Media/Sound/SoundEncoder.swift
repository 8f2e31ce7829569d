internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// Encodes samples of one shape.
@safe final class SoundEncoder {
  let context: UnsafeMutablePointer<AVCodecContext>
  let shape: SoundShape
  private let queue: SampleQueue
  private let frame: MediaFrame
  private let packet: MediaPacket
  /// How many samples the encoder takes at a time.
  private var step = 0
  /// How many it has taken.
  private(set) var count: Int64 = 0

  init(_ settings: SoundSettings, wantsGlobalHeaders: Bool) throws(JobFailure) {
    shape = settings.shape
    queue = try SampleQueue(shape)
    frame = try MediaFrame()
    packet = try MediaPacket()
    guard let made = unsafe avcodec_alloc_context3(settings.encoder) else { throw .noMemory() }
    unsafe context = made
    unsafe made.pointee.sample_fmt = shape.format
    unsafe made.pointee.sample_rate = Int32(shape.rate)
    unsafe made.pointee.ch_layout = shape.layout
    unsafe made.pointee.time_base = AVRational(num: 1, den: Int32(shape.rate))
    unsafe made.pointee.thread_count = 1
    unsafe made.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    unsafe made.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    if wantsGlobalHeaders { unsafe made.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
    if let rate = settings.bitRate { unsafe made.pointee.bit_rate = Int64(rate) }
    if let depth = settings.depth { unsafe made.pointee.bits_per_raw_sample = Int32(depth) }
    if let quality = settings.quality {
      unsafe made.pointee.flags |= AV_CODEC_FLAG_QSCALE
      unsafe made.pointee.global_quality = Int32(quality * Double(FF_QP2LAMBDA))
    }
    var options: OpaquePointer?
    for (name, value) in settings.options { unsafe av_dict_set(&options, name, value, 0) }
    defer { unsafe av_dict_free(&options) }
    try unsafe checked(avcodec_open2(made, settings.encoder, &options), "cannot be coded in that way")
    let size = Int(unsafe made.pointee.frame_size)
    step = size > 0 ? size : 4096
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  var timeBase: AVRational { unsafe context.pointee.time_base }

  /// Takes samples of the shape, and calls `body` with the packets that are ready.
  func encode(
    _ samples: MediaFrame, _ body: (MediaPacket) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    try queue.add(samples)
    while queue.count >= step { try send(step, body) }
  }

  /// Encodes what is left.
  func finish(_ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    while queue.count > 0 { try send(min(step, queue.count), body) }
    try unsafe checked(avcodec_send_frame(context, nil), "cannot be coded")
    try receive(body)
  }

  private func send(_ count: Int, _ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    try queue.take(count, into: frame)
    unsafe frame.pointer.pointee.pts = self.count
    self.count += Int64(count)
    try unsafe checked(avcodec_send_frame(context, frame.pointer), "cannot be coded")
    try receive(body)
  }

  private func receive(_ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    while true {
      let came = unsafe avcodec_receive_packet(context, packet.pointer)
      if came == ffmedia_again || came == ffmedia_end { return }
      try checked(came, "cannot be coded")
      try body(packet)
      packet.clear()
    }
  }
}
