internal import CFFmpeg

/// The times of a stream's frames from the video's beginning, without jumps of minutes. Such jumps occur where
/// recordings were joined, and anywhere in damaged files.
struct RunningTime {
  private var origin: Int64
  private var last: Int64?
  private let longestLeap: Int64

  /// The maximum time that a picture is shown or audio is missing, in seconds. Longer times are jumps.
  private static let longestPause = 120.0

  init(from origin: Int64, in timeBase: AVRational) {
    self.origin = origin
    longestLeap = Int64(Self.longestPause * Double(timeBase.den) / Double(max(1, timeBase.num)))
  }

  /// Returns `time` relative to the beginning.
  mutating func place(_ time: Int64) -> Int64 {
    var shown = time.subtractingReportingOverflow(origin).partialValue
    if let last, abs(clamped(shown) - clamped(last)) > longestLeap {
      origin = time.subtractingReportingOverflow(last).partialValue
      shown = last
    }
    last = shown
    return shown
  }

  /// Limits a time so that differences do not overflow.
  private func clamped(_ time: Int64) -> Int64 { max(Int64.min / 4, min(Int64.max / 4, time)) }
}
