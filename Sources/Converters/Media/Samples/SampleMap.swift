internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// An audio stream whose samples can be located in the file. Any range can be decoded independently, with the same
/// samples as in a sequential pass.
///
/// Samples that cannot be decoded are silent, so that later ones keep their positions. `loss` counts them.
final class SampleMap {
  /// The number of samples in each channel.
  private(set) var count: Int64 = 0
  /// The number of samples that the container claims.
  private var claimed: Int64?
  /// The loss in the last range that was read.
  private(set) var loss = SoundLoss()
  let shape: SoundShape

  private let input: MediaInput
  private let stream: MediaStream
  private let decoder: MediaDecoder
  private let access: Access
  private let packet: MediaPacket
  /// `MediaInput.moves` after `packet` was read.
  private var packetMoves = 0
  /// The length of a sample in units of the stream's time.
  private let unit: Int64
  /// The time of the first sample, in samples. A sound that starts late has no silence before it.
  private let origin: Int64
  /// The numbers of padding samples before the first and after the last.
  private var padding: (first: Int64, last: Int64) = (0, 0)
  private var lead: Int64 { padding.first }
  /// Whether padding precedes the first sample.
  var hasLead: Bool { lead > 0 }

  private enum Access {
    /// The container can find a packet by its time.
    case seeking
    /// Packets are read from the first on. Decoding starts `back` packets before the wanted one, which depends on them.
    case walking(back: Int)
  }

  /// Returns `nil` if samples depend on all earlier ones, or if they cannot be located.
  init?(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    guard let access = Self.access(stream, input.formatName), input.links.count == 1 else { return nil }
    let base = stream.timeBase
    let ticks = Int64(base.den)
    guard base.num == 1, stream.rate > 0, ticks % Int64(stream.rate) == 0 else { return nil }
    unit = ticks / Int64(stream.rate)
    // Frames of FLAC have numbers. If the header counts all, the first ones can be lost.
    let isCounted = input.formatName == "flac" && stream.duration ?? 0 > 0
    if case .seeking = access, !isCounted { origin = max(0, stream.start ?? 0) / unit } else { origin = 0 }
    self.access = access
    self.input = input
    self.stream = stream
    shape = try SoundFacts(stream, of: input).shape
    packet = try MediaPacket()
    decoder = try MediaDecoder(stream, of: input, keepsPadding: true)
    try input.reset()
    input.use(only: [stream.index])
    guard let count = try measured(), count > 0, try begins() else { return nil }
    self.count = count
  }

  private static func access(_ stream: MediaStream, _ container: String) -> Access? {
    let name = stream.codecName
    if MediaInput.counting.contains(container), stream.hasNoPadding || name == "alac" { return .seeking }
    switch container {
    case "mov,mp4,m4a,3gp,3g2,mj2": if ["alac", "flac"].contains(name) || name.hasPrefix("pcm_") { return .seeking }
    // A frame can continue in up to 511 bytes of earlier frames.
    case "mp3": if name == "mp3" { return .walking(back: 40) }
    default: break
    }
    return nil
  }

  // MARK: Counting

  private func measured() throws(JobFailure) -> Int64? {
    switch access {
    case .walking:
      guard let count = try counted() else { return nil }
      // The header counts frames, which include the padding.
      if input.recordsDuration { claimed = stream.duration.map { $0 / unit - padding.first - padding.last } }
      return count
    case .seeking:
      guard let claimed = stream.duration.map({ $0 / unit }), claimed > 0 else { return try counted() }
      self.claimed = Int64(min((Double(claimed) / input.cut).rounded(), 1e15))
      // The claim is accepted if the last packet does not end later.
      let nearEnd = max(0, claimed - Int64(shape.rate))
      guard input.seek(stream.index, to: (nearEnd + origin) * unit) >= 0, let end = try lastEnd(), end <= claimed else {
        return try counted()
      }
      return end
    }
  }

  /// Returns whether samples at the start can be decoded.
  private func begins() throws(JobFailure) -> Bool {
    var found = false
    try decode(from: 0) { _, shape, first in
      found = found || shape.rate == self.shape.rate
      return !found && first < Int64(self.shape.rate)
    }
    return found
  }

  /// A remark on the whole stream and the last range that was read, as the end of a sentence. Empty if there is none.
  var remark: String {
    let rate = shape.rate
    return JobAnswer.loss([ending, loss.remark(rate: rate)].filter { !$0.isEmpty }.joined(separator: "; "))
  }

  /// A remark on a stream that is shorter than the container claims. Empty for others.
  private var ending: String {
    let rate = Double(shape.rate)
    guard let claimed, Double(claimed - count) > input.slack * rate else { return "" }
    if claimed - count < Int64(shape.rate) / 100 {
      return "lacks \(claimed - count == 1 ? "its last sample" : "its last \(claimed - count) samples")"
    }
    return MediaInput.ending(Double(count) / rate, of: Double(claimed) / rate)
  }

  /// Throws if the stream ends before half of the claimed length.
  func checkHalf() throws(JobFailure) {
    if let claimed, count < claimed / 2, !ending.isEmpty { throw JobFailure(.damaged, ending) }
  }

  /// Returns the end of the last of the following packets. Returns `nil` if there are none, or if one lacks a time.
  private func lastEnd() throws(JobFailure) -> Int64? {
    var end: Int64?
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      let time = unsafe packet.pointer.pointee.pts
      let length = unsafe packet.pointer.pointee.duration
      // A time that goes back is that of another stream that follows.
      let own = (time &+ length) / unit &- origin
      guard time != ffmedia_no_time, length > 0, end.map({ own > $0 }) ?? true else { return nil }
      end = max(end ?? 0, own)
    }
    return end
  }

  private func counted() throws(JobFailure) -> Int64? {
    guard let found = try SampleCount.walk(stream, of: input) else { return nil }
    // Frames with other times cannot be found by the number of a sample.
    if case .seeking = access, !found.isContinuous { return nil }
    padding = found.padding
    return found.count
  }

  private func rewind() throws(JobFailure) {
    try input.rewind(stream)
  }

  // MARK: Decoding

  /// The maximum length of a gap, in seconds. A damaged time can be days later.
  private static let longestGap: Int64 = 600

  /// Calls `body` with exactly the samples of a range within `0..<count`, frame by frame.
  func forEach(in range: Range<Int64>, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    var next = range.lowerBound
    loss = SoundLoss()
    let silence = try MediaFrame()
    func check(_ end: Int64) throws(JobFailure) {
      guard end - next <= Self.longestGap * Int64(shape.rate) else {
        let (from, to) = (next / Int64(shape.rate), end / Int64(shape.rate))
        throw JobFailure(.damaged, "has no sound that can be decoded from \(from) s to \(to) s")
      }
    }
    func fill(to end: Int64) throws(JobFailure) {
      try check(end)
      if next < end { loss.note(next..<end) }
      while next < end {
        guard silence.allocate(Int(min(end - next, 8192)), shape) else { throw .noMemory() }
        silence.fillWithSilence(from: 0, shape)
        next += Int64(silence.sampleCount)
        try body(silence)
      }
    }
    try decode(from: range.lowerBound) { (frame, shape, first) throws(JobFailure) in
      guard next < range.upperBound else { return false }
      let end = first + Int64(frame.sampleCount)
      // Samples of another rate cannot be located.
      guard end > next, shape.rate == self.shape.rate else { return true }
      try check(first)
      if first >= range.upperBound { return false }
      try fill(to: first)
      if end > range.upperBound { frame.keep(first: Int(range.upperBound - first)) }
      if first < next { frame.drop(first: Int(next - first), shape) }
      next += Int64(frame.sampleCount)
      try body(frame)
      return next < range.upperBound
    }
    try fill(to: range.upperBound)
  }

  /// Calls `body` with frames and the number of their first sample until it returns false. Starts at or before `place`.
  private func decode(
    from place: Int64, _ body: (MediaFrame, SoundShape, Int64) throws(JobFailure) -> Bool
  ) throws(JobFailure) {
    decoder.restart()
    var goesOn = true
    func take(_ frame: MediaFrame, _ shape: SoundShape) throws(JobFailure) {
      let time = unsafe frame.pointer.pointee.pts
      guard goesOn, time != ffmedia_no_time else { return }
      goesOn = try body(frame, shape, time / unit - lead - origin)
    }
    var skipped = 0
    switch access {
    case .seeking:
      // Parts that are read in order need no seek.
      let isFound = if hasPacket(with: place) { true } else { try seek(to: place) }
      if isFound { try decoder.decodeSound(packet, take) }
    case .walking(let back):
      try rewind()
      skipped = try packets(before: place + lead) - back
      try rewind()
    }
    while goesOn, try nextPacket() {
      skipped -= 1
      if skipped < 0 { try decoder.decodeSound(packet, take) }
    }
    if goesOn { try decoder.decodeSound(nil, take) }
  }

  /// Returns whether the last packet that was read has a sample, or ends before it, and the next read gives the packet
  /// after it.
  private func hasPacket(with place: Int64) -> Bool {
    let (start, length) = unsafe (packet.pointer.pointee.pts, packet.pointer.pointee.duration)
    guard packetMoves == input.moves, start != ffmedia_no_time, length > 0 else { return false }
    let first = start / unit &- origin
    return first <= place && place <= first &+ length / unit
  }

  /// Reads the packet with a sample, or an earlier one, or the first one. Returns false if there is none.
  private func seek(to place: Int64) throws(JobFailure) -> Bool {
    var target = place
    // Near a file's end, some containers find the packet after the wanted one.
    var back = Int64(shape.rate)
    while true {
      let isRead = if input.seek(stream.index, to: (target + origin) * unit) >= 0 { try nextPacket() } else { false }
      if isRead, unsafe packet.pointer.pointee.pts / unit - origin <= place { return true }
      // The first packet can be after the sample.
      if target == 0 { return isRead }
      target = max(0, target - back)
      back *= 4
    }
  }

  private func nextPacket() throws(JobFailure) -> Bool {
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      packetMoves = input.moves
      return true
    }
    return false
  }

  /// Returns the number of packets entirely before a sample, whose number includes the padding.
  private func packets(before place: Int64) throws(JobFailure) -> Int {
    var count = 0
    var sum: Int64 = 0
    while sum <= place * unit, try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      sum += unsafe packet.pointer.pointee.duration
      count += 1
    }
    return max(0, count - 1)
  }
}
