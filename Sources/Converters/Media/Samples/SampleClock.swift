internal import CFFmpeg
internal import WorkerKit

/// Times packets of sound by the samples in them, where the container's own clock is too coarse for that.
///
/// The container's times count where they are later than the sum by more than rounding: there is a gap. Sound with an earlier
/// time follows what came before.
final class SampleClock {
  private let stream: MediaStream
  private let lengths: PacketLength
  /// The unit of the times: a sample.
  let samples: AVRational
  /// The encoder's delay, which is put before the first sample.
  private let delay: Int64
  /// The time of the next packet, in samples.
  private var next: Int64?

  /// The maximum difference that is no gap, in units of the container's clock: rounding, or in ASF the time of another packet.
  private let slack: Int64

  /// By FFmpeg's names of containers whose clocks are too coarse.
  private static let slacks: [String: Int64] = ["matroska,webm": 3, "flv": 3, "asf": 1000]

  /// Returns nil if nothing has to be counted.
  init?(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    guard stream.kind == .sound, stream.rate > 0, stream.samples(1) == nil,
      let slack = Self.slacks[input.formatName]
    else { return nil }
    self.slack = slack
    self.stream = stream
    lengths = try PacketLength(stream, of: input)
    samples = AVRational(num: 1, den: Int32(clamping: stream.rate))
    delay = Int64(try unsafe input.stream(stream.index).pointee.codecpar.pointee.initial_padding)
  }

  /// Gives the packet times in samples.
  func time(_ packet: MediaPacket) {
    guard let time = packet.time, let length = lengths.samples(in: packet) else {
      next = nil
      unsafe av_packet_rescale_ts(packet.pointer, stream.timeBase, samples)
      return
    }
    let told = av_rescale_q(time, stream.timeBase, samples)
    let slack = av_rescale_q(self.slack, stream.timeBase, samples)
    let expected = next ?? -delay
    let now = told &- expected > slack || next == nil && told &- expected < -slack ? told : expected
    next = now &+ length
    unsafe packet.pointer.pointee.pts = now
    unsafe packet.pointer.pointee.dts = now
    unsafe packet.pointer.pointee.duration = max(0, length - packet.padding.last)
  }
}
