internal import CFFmpeg
internal import Catalogue

/// Which part of a film is wanted, and how fast.
struct FilmWindow {
  /// The film's own beginning, in units of `AV_TIME_BASE`: recordings of broadcasts begin anywhere.
  let origin: Int64
  /// In seconds from there.
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

  /// The beginning in units of a time base.
  func origin(in timeBase: AVRational) -> Int64 {
    av_rescale_q(origin, AVRational(num: 1, den: AV_TIME_BASE), timeBase)
  }

  /// How long the result is, for a film of so many seconds.
  func length(of duration: Double) -> Double { max(0, min(end ?? duration, duration) - start) / speed }

  /// Where what lasts from one time to another, by the film's own clock, is in the result; nil for what is not in it.
  func place(_ start: Double, _ end: Double) -> (Double, Double)? {
    let times = [start, end].map { time in
      (min(max(time - Double(origin) / Double(AV_TIME_BASE), self.start), self.end ?? .infinity) - self.start) / speed
    }
    return times[0] < times[1] ? (times[0], times[1]) : nil
  }

  /// The filters that cut; `kind` as `FilterGraph` has it.
  func filters(_ kind: String) -> [String] {
    var filters: [String] = []
    if start > 0 || end != nil {
      filters.append("\(kind)trim=start=\(start)" + (end.map { ":end=\($0)" } ?? ""))
    }
    if kind.isEmpty {
      if start > 0 || speed != 1 { filters.append("setpts=round((PTS-\(start)/TB)/\(speed))") }
    } else {
      if start > 0 { filters.append("asetpts=round(PTS-\(start)/TB)") }
      // A filter slows to no less than half.
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
  /// Where the film begins, in units of `AV_TIME_BASE`.
  var origin: Int64 {
    let start = unsafe context.pointee.start_time
    return start == ffmedia_no_time ? 0 : start
  }
}
