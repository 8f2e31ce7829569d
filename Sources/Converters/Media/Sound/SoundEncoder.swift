internal import CFFmpeg
internal import WorkerKit

/// An encoder of samples of one shape, in frames of the length that the codec requires.
@safe final class SoundEncoder {
  let shape: SoundShape
  private let encoder: MediaEncoder
  private let queue: SampleQueue
  private let frame: MediaFrame
  /// The number of samples that the encoder takes at a time.
  private let step: Int
  /// The number of samples that the encoder has taken.
  private(set) var count: Int64 = 0
  private var packets: Int64 = 0

  /// The number of samples in packets beyond those that were taken, for codecs whose packets have equal lengths.
  var padding: Int64 { packets * Int64(step) - count }

  init(_ settings: SoundSettings, wantsGlobalHeaders: Bool) throws(JobFailure) {
    shape = settings.shape
    queue = try SampleQueue(shape)
    frame = try MediaFrame()
    encoder = try unsafe MediaEncoder(settings.encoder, hasGlobalHeader: wantsGlobalHeaders)
    let made = unsafe encoder.context
    unsafe made.pointee.sample_fmt = shape.format
    unsafe made.pointee.sample_rate = Int32(shape.rate)
    unsafe made.pointee.ch_layout = shape.layout
    unsafe made.pointee.time_base = AVRational(num: 1, den: Int32(shape.rate))
    unsafe made.pointee.thread_count = 1
    unsafe made.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    if let rate = settings.bitRate { unsafe made.pointee.bit_rate = Int64(rate) }
    if let depth = settings.depth { unsafe made.pointee.bits_per_raw_sample = Int32(depth) }
    if let quality = settings.quality {
      unsafe made.pointee.flags |= AV_CODEC_FLAG_QSCALE
      unsafe made.pointee.global_quality = Int32(quality * Double(FF_QP2LAMBDA))
    }
    try encoder.open(settings.options)
    let size = Int(unsafe made.pointee.frame_size)
    step = size > 0 ? size : 4096
  }

  var context: UnsafeMutablePointer<AVCodecContext> { unsafe encoder.context }
  var timeBase: AVRational { encoder.timeBase }

  /// Takes samples of the shape. Calls `body` with finished packets.
  func encode(
    _ samples: MediaFrame, _ body: (MediaPacket) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    try queue.add(samples)
    while queue.count >= step { try send(step, body) }
  }

  /// Encodes the remaining samples.
  func finish(_ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    while queue.count > 0 { try send(min(step, queue.count), body) }
    try code(nil, body)
  }

  private func send(_ count: Int, _ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    try queue.take(count, into: frame)
    unsafe frame.pointer.pointee.pts = self.count
    self.count += Int64(count)
    try code(frame, body)
  }

  private func code(_ frame: MediaFrame?, _ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    try encoder.encode(frame) { (packet) throws(JobFailure) in
      packets += 1
      try body(packet)
    }
  }
}
