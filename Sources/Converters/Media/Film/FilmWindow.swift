internal import CFFmpeg
internal import Catalogue

/// The requested part of a video, and its speed.
struct FilmWindow {
  /// The video's first time, in units of `AV_TIME_BASE`. Recordings of broadcasts begin at any time.
  let origin: Int64
  /// The bounds of the part, in seconds from `origin`.
  let start: Double
  let end: Double?
  let speed: Double

  init(_ changes: FilmChanges, of input: MediaInput) {
    origin = input.origin
    start = changes.span?.start.seconds ?? 0
    end = changes.span?.end?.seconds
    speed = Double(changes.speed?.hundredths ?? 100) / 100
  }

  init(of input: MediaInput, from start: Double = 0, to end: Double? = nil) {
    origin = input.origin
    (self.start, self.end) = (start, end)
    speed = 1
  }

  var isWhole: Bool { start == 0 && end == nil && speed == 1 }

  /// Returns the video's first time in units of a time base.
  func origin(in timeBase: AVRational) -> Int64 {
    av_rescale_q(origin, AVRational(num: 1, den: AV_TIME_BASE), timeBase)
  }

  /// Returns the length of the result for a video of `duration` seconds.
  func length(of duration: Double) -> Double { max(0, min(end ?? duration, duration) - start) / speed }

  /// Returns the times in the result of an interval of the video's own clock, in seconds. Returns `nil` if the result
  /// does not contain it.
  func place(_ start: Double, _ end: Double) -> (Double, Double)? {
    let times = [start, end].map { time in
      (min(max(time - Double(origin) / Double(AV_TIME_BASE), self.start), self.end ?? .infinity) - self.start) / speed
    }
    return times[0] < times[1] ? (times[0], times[1]) : nil
  }

  /// Returns the filters that cut the part and change its speed. `kind` is as in `FilterGraph`.
  func filters(_ kind: String) -> [String] {
    var filters: [String] = []
    if start > 0 || end != nil {
      filters.append("\(kind)trim=start=\(start)" + (end.map { ":end=\($0)" } ?? ""))
    }
    if kind.isEmpty {
      if start > 0 || speed != 1 { filters.append("setpts=round((PTS-\(start)/TB)/\(speed))") }
    } else {
      if start > 0 { filters.append("asetpts=round(PTS-\(start)/TB)") }
      // One filter can halve the speed at most.
      if speed < 0.5 {
        filters += ["atempo=0.5", "atempo=\(speed * 2)"]
      } else if speed != 1 {
        filters.append("atempo=\(speed)")
      }
    }
    return filters
  }
}

extension MediaInput {
  /// The video's first time, in units of `AV_TIME_BASE`.
  var origin: Int64 {
    let start = unsafe context.pointee.start_time
    return start == ffmedia_no_time ? 0 : start
  }
}
