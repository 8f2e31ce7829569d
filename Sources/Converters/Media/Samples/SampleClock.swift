internal import CFFmpeg
internal import WorkerKit

/// A clock that times audio packets by their number of samples, for containers whose own clock is too coarse.
///
/// Beside other tracks, the container's time applies if it is later than the sum by more than rounding, since that is a
/// gap. Packets with an earlier time follow the one before. A single audio stream has no gaps. Its samples follow one
/// another, as in all other formats.
final class SampleClock {
  private let stream: MediaStream
  private let lengths: PacketLength
  /// The unit of the times.
  let unit: AVRational
  /// Whether the container's times are right, and only durations can be missing.
  private let isExact: Bool
  /// The encoder's delay, which precedes the first sample.
  private let delay: Int64
  /// The time of the next packet, in samples.
  private var next: Int64?

  /// The maximum difference that is not a gap, in units of the container's clock. It is due to rounding, or in ASF to
  /// the time of another packet. `nil` if gaps cannot occur.
  private let slack: Int64?

  /// The values of `slack` for containers whose clocks are too coarse, by FFmpeg's names.
  private static let slacks: [String: Int64] = ["matroska,webm": 3, "flv": 3, "asf": 1000]

  /// Returns `nil` if samples need not be counted.
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

  /// Whether the times begin with the first sample, regardless of the container's first time.
  var beginsAtZero: Bool { !isExact && slack == nil }

  /// Sets the packet's times in units of the clock.
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

  /// Sets a missing duration. Some containers do not record it for the last packet.
  private func complete(_ packet: MediaPacket) {
    guard unsafe packet.pointer.pointee.duration <= 0, let length = lengths.samples(in: packet) else { return }
    unsafe packet.pointer.pointee.duration = av_rescale_q(
      max(0, length - packet.padding.last), AVRational(num: 1, den: Int32(clamping: stream.rate)), stream.timeBase)
  }
}

extension MediaInput {
  /// Whether the file has a single audio stream and no other timed streams.
  var isOneSound: Bool {
    let timed = streams.filter { [.film, .sound, .subtitle].contains($0.kind) && $0.codec != AV_CODEC_ID_NONE }
    return timed.count == 1 && timed[0].kind == .sound
  }
}
