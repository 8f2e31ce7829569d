internal import CFFmpeg
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// A crossfade of the end of an audio stream with the start of the next, at constant power.
final class Crossfade {
  /// The shape of the input, whose samples are packed floats.
  let shape: SoundShape
  private let resampler: SoundResampler
  private let given: MediaFrame
  private let made: MediaFrame
  /// The length of the crossfade, in samples of all channels.
  private let length: Int
  /// The samples kept back, since they can contain the end of a stream.
  private var waiting: [Float] = []
  /// The end of the stream before, and the number of its samples that have been mixed.
  private var before: [Float] = []
  private var heard = 0

  /// Creates a crossfade. `target` is the shape of the output.
  init(_ time: MediaTime, _ target: SoundShape) throws(JobFailure) {
    var shape = target
    shape.format = AV_SAMPLE_FMT_FLT
    self.shape = shape
    resampler = try SoundResampler(from: shape, to: target)
    given = try MediaFrame()
    made = try MediaFrame()
    length = Int(time.count(at: target.rate)) * target.channels
  }

  func take(_ frame: MediaFrame, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    let count = frame.sampleCount * shape.channels
    guard count > 0, let plane = unsafe frame.pointer.pointee.extended_data?.pointee else { return }
    unsafe plane.withMemoryRebound(to: Float.self, capacity: count) { samples in
      for place in 0..<count { unsafe waiting.append(mixed(samples[place])) }
    }
    // Not at every frame, since the remaining samples are moved.
    if waiting.count > 2 * length + 65_536 { try emit(waiting.count - length, body) }
  }

  private func mixed(_ sample: Float) -> Float {
    guard heard < before.count else { return sample }
    defer { heard += 1 }
    let share = Float(heard / shape.channels) / Float(max(1, before.count / shape.channels))
    return max(-1, min(1, before[heard] * (1 - share).squareRoot() + sample * share.squareRoot()))
  }

  /// Ends the current stream. The following samples belong to another one.
  func endPart(_ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    // The stream is shorter than the crossfade from the one before.
    if heard < before.count { waiting += before[heard...].map { $0 * (1 - Float(heard) / Float(before.count)) } }
    if waiting.count > length { try emit(waiting.count - length, body) }
    (before, waiting, heard) = (waiting, [], 0)
  }

  /// Calls `body` with the remaining samples.
  func finish(_ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    (waiting, before) = (Array(before[heard...]) + waiting, [])
    try emit(waiting.count, body)
  }

  private func emit(_ count: Int, _ body: (MediaFrame) throws(JobFailure) -> Void) throws(JobFailure) {
    let whole = count / shape.channels * shape.channels
    var place = 0
    while place < whole {
      let piece = min(whole - place, 4096 * shape.channels)
      guard given.allocate(piece / shape.channels, shape),
        let plane = unsafe given.pointer.pointee.extended_data?.pointee
      else { throw .noMemory() }
      unsafe waiting[place..<place + piece].withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        unsafe UnsafeMutableRawPointer(plane).copyMemory(from: start, byteCount: bytes.count)
      }
      try resampler.convert(given, into: made)
      if made.sampleCount > 0 { try body(made) }
      place += piece
    }
    waiting.removeFirst(whole)
  }
}
