internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The samples of a result, in the number that was announced.
final class SoundFeed {
  private let sound: OpenSound
  private let shape: SoundShape
  private let changes: SoundChanges
  /// The source's ranges. `nil` if the source is decoded from its start.
  let ranged: RangedSound?
  /// The number of samples in each channel. `nil` if it is known only at the end.
  let count: Int64?
  /// A remark on the samples, as the end of a sentence. Empty if there is none.
  private(set) var remark = ""

  init(_ sound: OpenSound, as shape: SoundShape, _ changes: SoundChanges) throws(JobFailure) {
    self.sound = sound
    self.shape = shape
    self.changes = changes
    if changes.speed == nil, let map = sound.map {
      let ranged = try RangedSound(map, changes.span, as: shape)
      self.ranged = ranged
      count = ranged.count
    } else {
      ranged = nil
      count = sound.count.flatMap { Self.count($0, sound.facts.shape.rate, shape.rate, changes) }
    }
  }

  private static func count(_ all: Int64, _ rate: Int, _ wanted: Int, _ changes: SoundChanges) -> Int64? {
    let span = changes.span.map { $0.samples(at: rate).clamped(to: 0..<all) } ?? 0..<all
    let stretched = Double(span.count) * 100 / Double(changes.speed?.hundredths ?? 100)
    let count = (stretched * Double(wanted) / Double(rate)).rounded(.up)
    return count >= 1 && count < 1e15 ? Int64(count) : nil
  }

  /// Calls `body` with all samples, and with the share of the source that has been read, from 0 to 1.
  func forEachFrame(_ body: (MediaFrame, Double) throws(JobFailure) -> Void) throws(JobFailure) {
    guard let ranged else { return try forEachFrameInOrder(body) }
    var done: Int64 = 0
    try forEachFrame(in: 0..<ranged.count, of: ranged) { (frame) throws(JobFailure) in
      done += Int64(frame.sampleCount)
      try body(frame, Double(done) / Double(ranged.count))
    }
  }

  /// Calls `body` with exactly the samples of a range within `0..<count`.
  func forEachFrame(
    in range: Range<Int64>, of ranged: RangedSound, _ body: (MediaFrame) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    if changes.span == nil { try ranged.map.checkHalf() }
    try ranged.forEach(in: range, body)
    remark = ranged.map.remark
  }

  private func forEachFrameInOrder(_ body: (MediaFrame, Double) throws(JobFailure) -> Void) throws(JobFailure) {
    var came: Int64 = 0
    let isAlone = sound.input.links.count == 1
    let reader = try SoundReader(sound.stream, of: sound.input, as: shape, changes, keepsEnd: count != nil && isAlone)
    try reader.forEachFrame { (frame, share) throws(JobFailure) in
      let room = max(0, (count ?? .max) - came)
      came += Int64(frame.sampleCount)
      frame.keep(first: Int(min(room, Int64(frame.sampleCount))))
      if frame.sampleCount > 0 { try body(frame, share) }
    }
    if changes.span == nil { try sound.input.checkHalf() }
    let lost = reader.lostPackets
    let isLost = lost == 0 ? "" : "lacks \(lost) \(lost == 1 ? "packet" : "packets") that cannot be decoded"
    var remarks = [sound.input.shortfall, JobAnswer.loss(isLost)]
    if let count {
      let left = count - came
      if left > 0 {
        guard left <= max(Int64(shape.rate), count / 2) else {
          let (end, all) = (SoundLoss.seconds(came, shape.rate), SoundLoss.seconds(count, shape.rate))
          throw JobFailure(.damaged, "ends after \(end) s, though it says that it lasts \(all) s")
        }
        if left > rounding || lost > 0 {
          remarks.append(JobAnswer.loss("is silent for its last \(SoundLoss.seconds(left, shape.rate)) s"))
        }
        try fill(left) { (frame) throws(JobFailure) in try body(frame, 1) }
      }
      // The last packet is decoded entirely.
      let padding = (reader.keptPadding + sound.longestPacket) * Int64(shape.rate) / Int64(max(1, sound.stream.rate))
      if changes.span?.end == nil, -left > padding + rounding {
        remarks.append(JobAnswer.loss("lacks the last \(SoundLoss.seconds(-left, shape.rate)) s"))
      }
    }
    remark = remarks.filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// The maximum rounding error of time stretching and resampling, in samples.
  private var rounding: Int64 { changes.speed != nil ? 2048 : shape.rate == sound.facts.shape.rate ? 0 : 64 }

  private func fill(_ count: Int64, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    var left = count
    let silence = try MediaFrame()
    while left > 0 {
      guard silence.allocate(Int(min(left, 8192)), shape) else { throw .noMemory() }
      silence.fillWithSilence(from: 0, shape)
      left -= Int64(silence.sampleCount)
      try body(silence)
    }
  }
}
