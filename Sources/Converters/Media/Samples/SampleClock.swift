internal import CFFmpeg
internal import WorkerKit

/// Times packets of sound by the samples in them, where the container's own clock is too coarse for that.
///
/// Beside other tracks, the container's times count where they are later than the sum by more than rounding: there is a gap.
/// Sound with an earlier time follows what came before. A sound alone has no gaps: as in all other formats, its samples follow
/// one another.
final class SampleClock {
  private let stream: MediaStream
  private let lengths: PacketLength
  /// The unit of the times.
  let unit: AVRational
  /// Whether the container's times are right, and only lengths may be missing.
  private let isExact: Bool
  /// The encoder's delay, which is put before the first sample.
  private let delay: Int64
  /// The time of the next packet, in samples.
  private var next: Int64?

  /// The maximum difference that is no gap, in units of the container's clock: rounding, or in ASF the time of another packet.
  /// Nil if there are no gaps.
  private let slack: Int64?

  /// By FFmpeg's names of containers whose clocks are too coarse.
  private static let slacks: [String: Int64] = ["matroska,webm": 3, "flv": 3, "asf": 1000]

  /// Returns nil if nothing has to be counted.
  init?(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    guard stream.kind == .sound, stream.rate > 0 else { return nil }
    isExact = stream.samples(1) != nil
    slack = input.isOneSound ? nil : Self.slacks[input.formatName]
    guard isExact || input.isOneSound || slack != nil else { return nil }
    self.stream = stream
    lengths = try PacketLength(stream, of: input)
    unit = isExact ? stream.timeBase : AVRational(num: 1, den: Int32(clamping: stream.rate))
    delay = Int64(try unsafe input.stream(stream.index).pointee.codecpar.pointee.initial_padding)
  }

  /// Whether the times begin with the first sample, wherever those of the container begin.
  var beginsAtZero: Bool { !isExact && slack == nil }

  /// Gives the packet times in units of the clock.
  func time(_ packet: MediaPacket) {
    if isExact { return complete(packet) }
    guard let length = lengths.samples(in: packet), slack == nil || packet.time != nil else {
      next = nil
      unsafe av_packet_rescale_ts(packet.pointer, stream.timeBase, unit)
      return
    }
    let expected = next ?? -delay
    var now = expected
    if let slack, let time = packet.time {
      let told = av_rescale_q(time, stream.timeBase, unit)
      let slack = av_rescale_q(slack, stream.timeBase, unit)
      if told &- expected > slack || next == nil && told &- expected < -slack { now = told }
    }
    next = now &+ length
    unsafe packet.pointer.pointee.pts = now
    unsafe packet.pointer.pointee.dts = now
    unsafe packet.pointer.pointee.duration = max(0, length - packet.padding.last)
  }

  /// Some containers do not say how long the last packet is.
  private func complete(_ packet: MediaPacket) {
    guard unsafe packet.pointer.pointee.duration <= 0, let length = lengths.samples(in: packet) else { return }
    unsafe packet.pointer.pointee.duration = av_rescale_q(
      max(0, length - packet.padding.last), AVRational(num: 1, den: Int32(clamping: stream.rate)), stream.timeBase)
  }
}

extension MediaInput {
  /// Whether it is one sound, with nothing that goes along with it in time.
  var isOneSound: Bool {
    let timed = streams.filter { [.film, .sound, .subtitle].contains($0.kind) && $0.codec != AV_CODEC_ID_NONE }
    return timed.count == 1 && timed[0].kind == .sound
  }
}
