internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A reader of an audio stream from its first sample to its last, in the requested shape and with the requested
/// changes.
///
/// A span is cut to the sample of the source before any other change.
final class SoundReader {
  private let input: MediaInput
  private let stream: MediaStream
  private let decoder: MediaDecoder
  private let shape: SoundShape
  private let changes: SoundChanges
  private var tempo: (filter: TempoFilter, shape: SoundShape)?
  private var resampler: SoundResampler?
  private let output: MediaFrame
  /// Whether samples at the end are read even if the container marks them as padding.
  private let keepsEnd: Bool
  /// The number of damaged packets, which yielded no samples.
  private(set) var lostPackets = 0
  /// The number of padding samples at the source's end that are output nevertheless.
  private(set) var keptPadding: Int64 = 0
  /// The number of samples of the source that were decoded.
  private var taken: Int64 = 0
  /// The requested samples, as the source counts them. `nil` before the first sample.
  private var wanted: Range<Int64>?

  init(
    _ stream: MediaStream, of input: MediaInput, as shape: SoundShape, _ changes: SoundChanges, keepsEnd: Bool = false
  ) throws(JobFailure) {
    self.keepsEnd = keepsEnd
    self.input = input
    self.stream = stream
    self.shape = shape
    self.changes = changes
    decoder = try MediaDecoder(stream, of: input)
    output = try MediaFrame()
    input.use(only: [stream.index])
    try input.rewind(stream)
  }

  /// Calls `body` with all samples, and with the share of the source that has been read, from 0 to 1.
  func forEachFrame(_ body: (MediaFrame, Double) throws(JobFailure) -> Void) throws(JobFailure) {
    let packet = try MediaPacket()
    let length = input.duration ?? .infinity
    var share = 0.0
    func emit(_ frame: MediaFrame) throws(JobFailure) { try body(frame, share) }
    while !isDone {
      guard try input.read(into: packet) else { break }
      guard packet.stream == stream.index else { continue }
      let time = unsafe packet.pointer.pointee.pts
      if time != ffmedia_no_time {
        share = Double(time) * Double(stream.timeBase.num) / Double(max(1, stream.timeBase.den)) / length
      }
      if keepsEnd {
        keptPadding += packet.padding.last
        packet.keepEnd()
      }
      let isWhole = try decoder.decodeSound(packet) { (frame, shape) throws(JobFailure) in try cut(frame, shape, emit) }
      if !isWhole { lostPackets += 1 }
    }
    if !isDone { try decoder.decodeSound(nil) { (frame, shape) throws(JobFailure) in try cut(frame, shape, emit) } }
    guard wanted != nil else { throw JobFailure(.damaged, "has no sound that can be decoded") }
    if let span = changes.span, wanted.map({ $0.lowerBound >= taken }) ?? true {
      throw JobFailure(.absent, "ends before \(span.start)")
    }
    share = 1
    try finishTempo(emit)
    try finishResampling(emit)
  }

  private var isDone: Bool { wanted.map { taken >= $0.upperBound } ?? false }

  private func cut(
    _ frame: MediaFrame, _ shape: SoundShape, _ emit: (MediaFrame) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let span = wanted ?? changes.span.map { $0.samples(at: shape.rate) } ?? 0..<Int64.max
    wanted = span
    let first = taken
    taken += Int64(frame.sampleCount)
    guard taken > span.lowerBound, first < span.upperBound else { return }
    if span.upperBound < taken { frame.keep(first: Int(span.upperBound - first)) }
    if first < span.lowerBound { frame.drop(first: Int(span.lowerBound - first), shape) }
    guard let speed = changes.speed else { return try resample(frame, shape, emit) }
    if let tempo, tempo.shape != shape { try finishTempo(emit) }
    if tempo == nil { tempo = (try TempoFilter(speed, shape), shape) }
    try tempo?.filter.filter(frame) { (frame, shape) throws(JobFailure) in try resample(frame, shape, emit) }
  }

  private func finishTempo(_ emit: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    guard let filter = tempo?.filter else { return }
    try filter.filter(nil) { (frame, shape) throws(JobFailure) in try resample(frame, shape, emit) }
    tempo = nil
  }

  /// Resamples a frame. A source can change its shape midway.
  private func resample(
    _ frame: MediaFrame, _ shape: SoundShape, _ emit: (MediaFrame) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    if resampler?.source != shape {
      try finishResampling(emit)
      resampler = try SoundResampler(from: shape, to: self.shape)
    }
    try resampler?.convert(frame, into: output)
    if output.sampleCount > 0 { try emit(output) }
  }

  private func finishResampling(_ emit: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    guard let resampler else { return }
    try resampler.convert(nil, into: output)
    if output.sampleCount > 0 { try emit(output) }
    self.resampler = nil
  }
}

extension MediaSpan {
  /// Returns the span in samples.
  func samples(at rate: Int) -> Range<Int64> {
    let first = start.count(at: rate)
    return first..<max(first, end?.count(at: rate) ?? .max)
  }
}
