internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A part of a sound, or all of it, in another shape, of which any range can be had.
///
/// A range has the same samples as it has in the whole: resampling starts some samples earlier, at a place where the steps of
/// both rates meet.
final class RangedSound {
  let map: SampleMap
  /// Of the map's samples.
  private let span: Range<Int64>
  let shape: SoundShape
  /// Samples of each channel.
  let count: Int64
  /// So many samples of the source are as long as so many here.
  private let step: (source: Int64, here: Int64)

  init(_ map: SampleMap, _ span: MediaSpan?, as shape: SoundShape) throws(JobFailure) {
    let wanted = span?.samples(at: map.shape.rate) ?? 0..<map.count
    guard wanted.lowerBound < map.count else { throw JobFailure(.absent, "ends before \(span?.start ?? .zero)") }
    self.map = map
    self.span = wanted.lowerBound..<min(wanted.upperBound, map.count)
    self.shape = shape
    let divisor = Self.divisor(map.shape.rate, shape.rate)
    step = (Int64(map.shape.rate / divisor), Int64(shape.rate / divisor))
    let (product, overflow) = Int64(self.span.count).multipliedReportingOverflow(by: step.here)
    guard !overflow else { throw JobFailure(.limit, "claims to have \(map.count) samples") }
    count = (product + step.source - 1) / step.source
  }

  private static func divisor(_ one: Int, _ other: Int) -> Int {
    var (one, other) = (one, other)
    while other != 0 { (one, other) = (other, one % other) }
    return one
  }

  /// Calls `body` with exactly the samples of a range within `0..<count`, piece by piece.
  func forEach(in range: Range<Int64>, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    guard !range.isEmpty else { return }
    let needed = source(of: range)
    // Where `needed` starts, as samples are counted here: both rates meet there.
    var place = needed.lowerBound / step.source * step.here
    var resampler: SoundResampler?
    let output = try MediaFrame()
    func emit() throws(JobFailure) {
      let end = place + Int64(output.sampleCount)
      defer { place = end }
      guard end > range.lowerBound, place < range.upperBound else { return }
      if end > range.upperBound { output.keep(first: Int(range.upperBound - place)) }
      if place < range.lowerBound { output.drop(first: Int(range.lowerBound - place), shape) }
      if output.sampleCount > 0 { try body(output) }
    }
    let offset = span.lowerBound
    try map.forEach(in: (needed.lowerBound + offset)..<(needed.upperBound + offset)) { (frame) throws(JobFailure) in
      guard let given = frame.shape else { return }
      if let old = resampler, old.source != given {
        try old.convert(nil, into: output)
        try emit()
      }
      if resampler?.source != given { resampler = try SoundResampler(from: given, to: shape) }
      try resampler?.convert(frame, into: output)
      try emit()
    }
    if let resampler, place < range.upperBound {
      try resampler.convert(nil, into: output)
      try emit()
    }
    while place < range.upperBound {
      guard output.allocate(Int(min(range.upperBound - place, 8192)), shape) else { throw .noMemory() }
      output.fillWithSilence(from: 0, shape)
      try emit()
    }
  }

  /// The samples of the source, counted from the span's first, that a range is made of.
  private func source(of range: Range<Int64>) -> Range<Int64> {
    let length = Int64(span.count)
    if step.source == step.here { return range }
    // More than the resampler looks to either side.
    let margin = 64 * max(1, (step.source + step.here - 1) / step.here) + 64
    let steps = max(0, range.lowerBound / step.here - (margin + step.source - 1) / step.source)
    let end = (range.upperBound / step.here + 1) * step.source + margin
    return steps * step.source..<min(length, max(end, steps * step.source))
  }
}
