internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A segment of a video, whose times continue those of the segment before.
struct Segment {
  private let plan: SegmentPlan
  private let start: Double
  private let end: Double
  private let isFirst: Bool
  private let isLast: Bool

  /// The offset of all times, in seconds. It prevents negative times of packets before the first picture.
  private static let lead = 10.0
  /// The tolerance for rounded times of containers, in seconds.
  private static let slack = 0.002
  /// The maximum distance of audio from its picture in a file, in seconds.
  private static let skew = 10.0
  private static let runLength: Int64 = 1024

  /// - Parameter number: counted from 0.
  init(_ number: Int, of plan: SegmentPlan) {
    self.plan = plan
    (start, end) = (plan.times[number], plan.times[number + 1])
    (isFirst, isLast) = (number == 0, number == plan.count - 1)
  }

  func write(to file: JobOutput) throws(JobFailure) {
    let output = try MediaOutput("mpegts", to: file, isStreamed: true)
    unsafe output.context.pointee.output_ts_offset = Int64(Self.lead * Double(AV_TIME_BASE))
    unsafe output.context.pointee.avoid_negative_ts = 0
    unsafe output.context.pointee.max_delay = 0
    let container = FilmContainer.transport([:])
    var tracks: [any MadeTrack] = []
    if let picture = plan.picture {
      tracks.append(
        plan.copiesPicture ? try CopiedTrack(picture, of: plan.input, container) : try codedPictures(picture))
    }
    if let sound = plan.sound {
      tracks.append(plan.copiesSound ? try CopiedTrack(sound, of: plan.input, container) : try codedSound(sound))
    }
    for track in tracks { try track.declare(in: output) }
    try output.start(["mpegts_copyts": "1", "mpegts_flags": "initial_discontinuity"])
    try run(tracks, output)
    try output.finish()
  }

  private func codedPictures(_ stream: MediaStream) throws(JobFailure) -> CodedPictures {
    let window = FilmWindow(of: plan.input, from: start, to: isLast ? nil : end)
    let pictures = try CodedPictures(
      stream, of: plan.input, .h264, FilmChanges(), window, hasGlobalHeader: false)
    pictures.shift = start
    return pictures
  }

  /// Encodes audio from slightly before the segment, so that each frame continues the one before it.
  private func codedSound(_ stream: MediaStream) throws(JobFailure) -> CodedSoundTrack {
    let rate = Double(stream.rate)
    func runs(_ seconds: Double) -> Int64 { Int64((seconds * rate / Double(Self.runLength)).rounded(.up)) }
    func seconds(_ runs: Int64) -> Double { Double(max(0, runs) * Self.runLength) / rate }
    let first = runs(start)
    let last = runs(end)
    let from = isFirst ? 0 : seconds(first - 3)
    let window = FilmWindow(of: plan.input, from: from, to: isLast ? nil : seconds(last + 3))
    let sound = try CodedSoundTrack(stream, of: plan.input, .aac, window, hasGlobalHeader: false)
    sound.shift = from
    if sound.rate == stream.rate {
      sound.kept = (isFirst ? .min : first * Self.runLength)..<(isLast ? .max : last * Self.runLength)
    }
    return sound
  }

  private func run(_ tracks: [any MadeTrack], _ output: MediaOutput) throws(JobFailure) {
    let input = plan.input
    input.use(only: Set(tracks.map(\.source)))
    input.enter(at: isFirst ? 0 : max(0, start - 1))
    let packet = try MediaPacket()
    var hasPicture = false
    var isDone: Set<Int> = []
    while isDone.count < tracks.count, try input.read(into: packet) {
      guard let track = tracks.first(where: { $0.source == packet.stream }), !isDone.contains(track.source) else {
        continue
      }
      guard track is CopiedTrack else {
        try track.take(packet, output)
        if track.isDone || isBeyond(packet) { isDone.insert(track.source) }
        continue
      }
      guard let time = time(of: packet) else { continue }
      if track.source == plan.picture?.index {
        if unsafe packet.pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 {
          if !isLast, time >= end - Self.slack { isDone.insert(track.source) }
          hasPicture = hasPicture || isFirst || time >= start - Self.slack
        }
        if hasPicture, !isDone.contains(track.source) { try track.take(packet, output) }
      } else if isLast || time < end {
        if isFirst || time >= start { try track.take(packet, output) }
      } else {
        isDone.insert(track.source)
      }
    }
    for track in tracks { try track.take(nil, output) }
  }

  /// Returns when a packet is shown, in seconds from the video's beginning.
  private func time(of packet: MediaPacket) -> Double? {
    let time = unsafe packet.pointer.pointee.pts
    if time == ffmedia_no_time { return nil }
    let base = plan.input.streams[packet.stream].timeBase
    return Double(time &- FilmWindow(of: plan.input).origin(in: base)) * Double(base.num) / Double(max(1, base.den))
  }

  private func isBeyond(_ packet: MediaPacket) -> Bool { !isLast && time(of: packet) ?? 0 > end + Self.skew }
}
