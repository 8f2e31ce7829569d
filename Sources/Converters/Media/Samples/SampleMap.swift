internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A sound of which each sample has a place in the file: any part of it can be decoded by itself, with the same samples as
/// if all were.
///
/// What cannot be decoded is silence, so that what comes after stays where it is; `loss` tells of it.
final class SampleMap {
  /// Samples of each channel.
  private(set) var count: Int64 = 0
  /// How many the container says that there are.
  private var claimed: Int64?
  /// Of the last range that was asked for.
  private(set) var loss = SoundLoss()
  let shape: SoundShape

  private let input: MediaInput
  private let stream: MediaStream
  private let decoder: MediaDecoder
  private let access: Access
  private let packet: MediaPacket
  /// Units of the stream's time for one sample.
  private let unit: Int64
  /// How many samples before the first are padding.
  private var lead: Int64 = 0
  /// Whether there are any.
  var hasLead: Bool { lead > 0 }

  private enum Access {
    /// The container finds a packet by its time.
    case seeking
    /// Packets are read from the first on, and so many before the wanted one are decoded, since they go on in it.
    case walking(back: Int)
  }

  /// nil for sound whose samples depend on all that came before, or have no certain place.
  init?(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    guard let access = Self.access(stream, input.formatName) else { return nil }
    let base = stream.timeBase
    let ticks = Int64(base.den)
    guard base.num == 1, stream.rate > 0, ticks % Int64(stream.rate) == 0 else { return nil }
    unit = ticks / Int64(stream.rate)
    self.access = access
    self.input = input
    self.stream = stream
    shape = try SoundFacts(stream, of: input).shape
    packet = try MediaPacket()
    decoder = try MediaDecoder(stream, of: input, keepsPadding: true)
    input.use(only: [stream.index])
    guard let count = try measured(), count > 0, try begins() else { return nil }
    self.count = count
  }

  private static func access(_ stream: MediaStream, _ container: String) -> Access? {
    let name = stream.codecName
    switch container {
    case "flac", "wav", "w64", "aiff", "au", "caf", "tta", "wv":
      if ["flac", "tta", "wavpack", "alac"].contains(name) || name.hasPrefix("pcm_") { return .seeking }
    case "mov,mp4,m4a,3gp,3g2,mj2": if ["alac", "flac"].contains(name) || name.hasPrefix("pcm_") { return .seeking }
    // A frame goes on in up to 511 bytes of those before it.
    case "mp3": if name == "mp3" { return .walking(back: 40) }
    default: break
    }
    return nil
  }

  // MARK: How many there are

  private func measured() throws(JobFailure) -> Int64? {
    switch access {
    case .walking: return try counted()
    case .seeking:
      guard let claimed = stream.duration.map({ $0 / unit }), claimed > 0 else { return try counted() }
      self.claimed = claimed
      // Believed if that is where the last packet ends.
      let nearEnd = max(0, claimed - Int64(shape.rate))
      guard unsafe av_seek_frame(input.context, Int32(stream.index), nearEnd * unit, AVSEEK_FLAG_BACKWARD) >= 0 else {
        return try counted()
      }
      guard let end = try lastEnd() else { return try counted() }
      return end <= claimed ? end : try counted()
    }
  }

  /// Whether anything at its start can be decoded.
  private func begins() throws(JobFailure) -> Bool {
    var found = false
    try decode(from: 0) { _, shape, first in
      found = found || shape.rate == self.shape.rate
      return !found && first < Int64(self.shape.rate)
    }
    return found
  }

  /// What is to be said, as the end of a sentence, of all of it and of the last range that was asked for; empty for nothing.
  var remark: String {
    let rate = shape.rate
    guard let claimed, claimed - count > max(Int64(rate), claimed / 50) else { return loss.remark(rate: rate) }
    let end = "ends after \(count / Int64(rate)) s, though it says that it lasts \(claimed / Int64(rate)) s"
    return [end, loss.remark(rate: rate)].filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// Where the last packet ends, of those that follow; nil if there are none, or one says nothing.
  private func lastEnd() throws(JobFailure) -> Int64? {
    var end: Int64?
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      let time = unsafe packet.pointer.pointee.pts
      let length = unsafe packet.pointer.pointee.duration
      guard time != ffmedia_no_time, length > 0 else { return nil }
      end = max(end ?? 0, (time + length) / unit)
    }
    return end
  }

  private func counted() throws(JobFailure) -> Int64? {
    guard let found = try SampleCount.walk(stream, of: input) else { return nil }
    // Frames that count otherwise cannot be found by their places.
    if case .seeking = access, !found.isContinuous { return nil }
    lead = found.lead
    return found.count
  }

  private func rewind() throws(JobFailure) {
    try input.rewind(stream)
  }

  // MARK: Decoding

  /// In seconds. A damaged number says that days have passed.
  private static let longestGap: Int64 = 600

  /// Calls `body` with exactly the samples of a range within `0..<count`, piece by piece.
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
      // Samples of another rate have no place here.
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

  /// Calls `body` with frames and the place of their first sample, from one before `place` on, until it returns false.
  private func decode(
    from place: Int64, _ body: (MediaFrame, SoundShape, Int64) throws(JobFailure) -> Bool
  ) throws(JobFailure) {
    decoder.restart()
    var goesOn = true
    func take(_ frame: MediaFrame, _ shape: SoundShape) throws(JobFailure) {
      let time = unsafe frame.pointer.pointee.pts
      guard goesOn, time != ffmedia_no_time else { return }
      goesOn = try body(frame, shape, time / unit - lead)
    }
    var skipped = 0
    switch access {
    case .seeking: if try seek(to: place) { try decoder.decodeSound(packet, take) }
    case .walking(let back):
      try rewind()
      skipped = try packets(before: place + lead) - back
      try rewind()
    }
    while goesOn, try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      skipped -= 1
      if skipped < 0 { try decoder.decodeSound(packet, take) }
    }
    if goesOn { try decoder.decodeSound(nil, take) }
  }

  /// Reads the packet with a sample, or one before it. False if there is none.
  private func seek(to place: Int64) throws(JobFailure) -> Bool {
    var target = place
    // Near a file's end some containers find the packet behind the one that is sought.
    var back = Int64(shape.rate)
    while true {
      if unsafe av_seek_frame(input.context, Int32(stream.index), target * unit, AVSEEK_FLAG_BACKWARD) >= 0,
        try nextPacket(), unsafe packet.pointer.pointee.pts / unit <= place
      {
        return true
      }
      if target == 0 { return false }
      target = max(0, target - back)
      back *= 4
    }
  }

  private func nextPacket() throws(JobFailure) -> Bool {
    while try input.read(into: packet) { if packet.stream == stream.index { return true } }
    return false
  }

  /// How many packets lie wholly before a sample, the padding counted.
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
