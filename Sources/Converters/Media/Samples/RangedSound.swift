internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// An audio stream, or a part of it, in another shape. Any range can be read.
///
/// A range has the same samples as in the whole. Resampling therefore starts some samples earlier, where the steps of
/// both rates coincide.
final class RangedSound {
  let map: SampleMap
  /// The part in samples of the map.
  private let span: Range<Int64>
  let shape: SoundShape
  /// The number of samples in each channel.
  let count: Int64
  /// The numbers of samples of equal duration in the source and in the result.
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

  /// Calls `body` with exactly the samples of a range within `0..<count`, frame by frame.
  func forEach(in range: Range<Int64>, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    guard !range.isEmpty else { return }
    let needed = source(of: range)
    // The start of `needed` in samples of the result, where both rates coincide.
    var place = needed.lowerBound / step.source * step.here
    var resampler: SoundResampler?
    let output = try MediaFrame()
    func emit(_ output: MediaFrame) throws(JobFailure) {
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
        try emit(output)
        resampler = nil
      }
      if given == shape { return try emit(frame) }
      if resampler == nil { resampler = try SoundResampler(from: given, to: shape) }
      try resampler?.convert(frame, into: output)
      try emit(output)
    }
    if let resampler, place < range.upperBound {
      try resampler.convert(nil, into: output)
      try emit(output)
    }
    while place < range.upperBound {
      guard output.allocate(Int(min(range.upperBound - place, 8192)), shape) else { throw .noMemory() }
      output.fillWithSilence(from: 0, shape)
      try emit(output)
    }
  }

  /// Returns the source's samples for a range, counted from the first of the span.
  private func source(of range: Range<Int64>) -> Range<Int64> {
    let length = Int64(span.count)
    if step.source == step.here { return range }
    // Exceeds the reach of the resampler on either side.
    let margin = 64 * max(1, (step.source + step.here - 1) / step.here) + 64
    let steps = max(0, range.lowerBound / step.here - (margin + step.source - 1) / step.source)
    let end = (range.upperBound / step.here + 1) * step.source + margin
    return steps * step.source..<min(length, max(end, steps * step.source))
  }
}
