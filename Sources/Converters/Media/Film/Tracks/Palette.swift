internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The 256 colours shared by all pictures of an animated image.
enum Palette {
  /// Creates a palette. Decodes the requested part of the video once, and applies the filters `chain` to its pictures.
  static func make(
    of input: MediaInput, _ stream: MediaStream, _ chain: String, _ window: FilmWindow
  ) throws(JobFailure) -> MediaFrame {
    let palette = try MediaFrame()
    let decoder = try MediaDecoder(stream, of: input)
    let packet = try MediaPacket()
    let origin = window.origin(in: stream.timeBase)
    var times = RunningTime(from: origin, in: stream.timeBase)
    var graph: FilterGraph?
    func take(_ frame: MediaFrame?) throws(JobFailure) {
      try graph?.filter(frame) { (made) throws(JobFailure) in unsafe av_frame_move_ref(palette.pointer, made.pointer) }
    }
    func decode(_ packet: MediaPacket?) throws(JobFailure) {
      try decoder.decode(packet) { (frame) throws(JobFailure) in
        if graph == nil {
          let entry = FilterGraph.entry(of: frame, stream.timeBase)
          graph = try FilterGraph("", from: entry, chain + ",palettegen=stats_mode=diff")
        }
        let time = unsafe frame.pointer.pointee.pts
        if time == ffmedia_no_time { return }
        unsafe frame.pointer.pointee.pts = times.place(time)
        try take(frame)
      }
    }
    input.use(only: [stream.index])
    input.enter(at: window.start)
    let base = stream.timeBase
    while try input.read(into: packet) {
      let time = unsafe packet.pointer.pointee.dts
      if let end = window.end, time != ffmedia_no_time,
        Double(time &- origin) * Double(base.num) / Double(max(1, base.den)) > end
      {
        break
      }
      try decode(packet)
    }
    try decode(nil)
    try take(nil)
    guard unsafe palette.pointer.pointee.width > 0 else {
      throw JobFailure(.damaged, "has no picture that can be decoded")
    }
    input.enter(at: window.start)
    return palette
  }
}
