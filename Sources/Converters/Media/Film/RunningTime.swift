internal import CFFmpeg

/// The times of a stream's pictures or samples, from the film's beginning: a leap of minutes, as recordings have where they
/// were put together, and damaged files anywhere, is none.
struct RunningTime {
  private var origin: Int64
  private var last: Int64?
  private let longestLeap: Int64

  /// Seconds for which a picture may stand, or sound be missing.
  private static let longestPause = 120.0

  init(from origin: Int64, in timeBase: AVRational) {
    self.origin = origin
    longestLeap = Int64(Self.longestPause * Double(timeBase.den) / Double(max(1, timeBase.num)))
  }

  /// `time`, from the beginning on.
  mutating func place(_ time: Int64) -> Int64 {
    var shown = time.subtractingReportingOverflow(origin).partialValue
    if let last, abs(clamped(shown) - clamped(last)) > longestLeap {
      origin = time.subtractingReportingOverflow(last).partialValue
      shown = last
    }
    last = shown
    return shown
  }

  /// So that differences are numbers.
  private func clamped(_ time: Int64) -> Int64 { max(Int64.min / 4, min(Int64.max / 4, time)) }
}
