internal import CFFmpeg
internal import WorkerKit

/// A copy of streams from one container to another without re-encoding.
struct PacketCopy {
  private let input: MediaInput
  private let output: MediaOutput
  /// The index of each stream in the output, by its index in the input.
  private var places: [Int: Int] = [:]
  /// The clocks of audio streams whose times are rounded.
  private var clocks: [Int: SampleClock] = [:]

  /// The number of the packet that ends with padding, and the number of padding samples.
  private var end: (packet: Int, padding: Int64)?

  init(from input: MediaInput, to output: MediaOutput) {
    self.input = input
    self.output = output
  }

  mutating func add(_ stream: MediaStream) throws(JobFailure) {
    places[stream.index] = Int(try unsafe output.addStream(stream, of: input).pointee.index)
    clocks[stream.index] = try SampleClock(stream, of: input)
  }

  /// Adds the only stream. `marksPadding` marks the padding at its end, for sources in which only the container records
  /// it.
  mutating func add(_ sound: OpenSound, marksPadding: Bool) throws(JobFailure) {
    try add(sound.stream)
    guard marksPadding else { return }
    let frames = try sound.frames()
    if frames.padding.last > 0 { end = (frames.sizes.count - 1, frames.padding.last) }
  }

  /// Copies the packets of the added streams, or only the first `count`. The output must have been started.
  func run(atMost count: Int = .max) throws(JobFailure) {
    input.use(only: Set(places.keys))
    let packet = try MediaPacket()
    let length = input.duration
    var number = 0
    while number < count, try input.read(into: packet) {
      guard let place = places[packet.stream] else { continue }
      if let end, end.packet == number { try packet.setEndPadding(end.padding) }
      number += 1
      let base = input.streams[packet.stream].timeBase
      let time = unsafe packet.pointer.pointee.pts
      if let length, time != ffmedia_no_time {
        output.tell(Double(time) * Double(base.num) / Double(max(1, base.den)) / length)
      }
      let clock = clocks[packet.stream]
      clock?.time(packet)
      try output.write(packet, to: place, timeBase: clock?.unit ?? base)
    }
  }
}
