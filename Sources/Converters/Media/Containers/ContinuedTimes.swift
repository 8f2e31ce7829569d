internal import CFFmpeg

/// A correction of packet times where one recording follows another in a file and its clock starts again.
///
/// The streams of a recording keep their distances. Each recording follows the latest end of the one before.
struct ContinuedTimes {
  /// The times added to those of each recording, in units of `unit`.
  private var offsets: [Int64] = [0]
  /// The current recording of each stream, since packets of streams arrive one after another.
  private var recording: [Int: Int] = [:]
  private var last: [Int: Int64] = [:]
  /// The latest end of all packets so far.
  private var end: Int64 = 0

  private static let unit = AVRational(num: 1, den: 90_000)
  /// The maximum time by which packets go back within a recording.
  private static let slack: Int64 = 22_500

  /// Corrects a packet's times. `isRegular` tells that the times of its stream normally increase.
  mutating func mend(_ packet: MediaPacket, _ timeBase: AVRational, isRegular: Bool) {
    let (shown, decoded) = unsafe (packet.pointer.pointee.pts, packet.pointer.pointee.dts)
    let time = decoded != ffmedia_no_time ? decoded : shown
    var number = recording[packet.stream] ?? 0
    if isRegular, time != ffmedia_no_time {
      let now = av_rescale_q(time, timeBase, Self.unit)
      if let before = last[packet.stream], now &+ Self.slack < before {
        number += 1
        if number == offsets.count { offsets.append(end &- now) }
        recording[packet.stream] = number
      }
      last[packet.stream] = now
    } else {
      number = offsets.count - 1
    }
    let offset = av_rescale_q(offsets[number], Self.unit, timeBase)
    if shown != ffmedia_no_time { unsafe packet.pointer.pointee.pts = shown &+ offset }
    if decoded != ffmedia_no_time { unsafe packet.pointer.pointee.dts = decoded &+ offset }
    guard isRegular, time != ffmedia_no_time else { return }
    let duration = unsafe max(0, packet.pointer.pointee.duration)
    let latest = (shown != ffmedia_no_time ? max(shown, time) : time) &+ duration
    end = max(end, av_rescale_q(latest &+ offset, timeBase, Self.unit))
  }
}
