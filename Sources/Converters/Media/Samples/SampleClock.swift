internal import CFFmpeg
internal import WorkerKit

/// Times packets of sound by the samples in them, where the container's own clock is too coarse for that.
///
/// The container's times count where they differ from the sum by more than rounding: there is a gap.
final class SampleClock {
  private let stream: MediaStream
  private let lengths: PacketLength
  private let samples: AVRational
  /// The encoder's delay, which is put before the first sample.
  private let delay: Int64
  /// The time of the next packet, in samples.
  private var next: Int64?

  /// The maximum difference that rounding explains, in units of the container's clock.
  private static let rounding: Int64 = 3

  /// Returns nil if nothing has to be counted.
  init?(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    guard stream.kind == .sound, stream.rate > 0, stream.samples(1) == nil, input.formatName.hasPrefix("matroska")
    else { return nil }
    self.stream = stream
    lengths = try PacketLength(stream, of: input)
    samples = AVRational(num: 1, den: Int32(clamping: stream.rate))
    delay = Int64(try unsafe input.stream(stream.index).pointee.codecpar.pointee.initial_padding)
  }

  /// Sets the packet's times, and returns their unit.
  func time(_ packet: MediaPacket) -> AVRational {
    guard let time = packet.time, let length = lengths.samples(in: packet) else {
      next = nil
      return stream.timeBase
    }
    let told = av_rescale_q(time, stream.timeBase, samples)
    let slack = av_rescale_q(Self.rounding, stream.timeBase, samples)
    let expected = next ?? -delay
    let now = abs(told &- expected) <= slack ? expected : told
    next = now &+ length
    unsafe packet.pointer.pointee.pts = now
    unsafe packet.pointer.pointee.dts = now
    unsafe packet.pointer.pointee.duration = max(0, length - packet.padding.last)
    return samples
  }
}
