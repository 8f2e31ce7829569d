internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The samples that go into a coded file, as many as are told beforehand.
final class SoundFeed {
  private let sound: OpenSound
  private let shape: SoundShape
  private let changes: SoundChanges
  private let ranged: RangedSound?
  /// Of each channel; nil where that shows only in the end.
  let count: Int64?

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

  /// Calls `body` with all samples, and how much of the source is read, from 0 to 1.
  func forEachFrame(_ body: (MediaFrame, Double) throws(JobFailure) -> Void) throws(JobFailure) {
    if let ranged {
      var done: Int64 = 0
      return try ranged.forEach(in: 0..<ranged.count) { (frame) throws(JobFailure) in
        done += Int64(frame.sampleCount)
        try body(frame, Double(done) / Double(ranged.count))
      }
    }
    var left = count ?? .max
    try SoundReader(sound.stream, of: sound.input, as: shape, changes).forEachFrame {
      (frame, share) throws(JobFailure) in
      frame.keep(first: Int(min(left, Int64(frame.sampleCount))))
      left -= Int64(frame.sampleCount)
      if frame.sampleCount > 0 { try body(frame, share) }
    }
    guard count != nil else { return }
    let silence = try MediaFrame()
    while left > 0 {
      guard silence.allocate(Int(min(left, 8192)), shape) else { throw .noMemory() }
      silence.fillWithSilence(from: 0, shape)
      left -= Int64(silence.sampleCount)
      try body(silence, 1)
    }
  }
}
