internal import CFFmpeg
internal import WorkerKit

/// Streams that go from one container to another as they are: nothing is coded again.
struct PacketCopy {
  private let input: MediaInput
  private let output: MediaOutput
  /// Streams of the input, and which they are in the output.
  private var places: [Int: Int] = [:]

  init(from input: MediaInput, to output: MediaOutput) {
    self.input = input
    self.output = output
  }

  mutating func add(_ stream: MediaStream) throws(JobFailure) {
    places[stream.index] = Int(try unsafe output.addStream(stream, of: input).pointee.index)
  }

  /// Copies all packets of the added streams; the output has been started.
  func run() throws(JobFailure) {
    input.use(only: Set(places.keys))
    let packet = try MediaPacket()
    let length = input.duration
    while try input.read(into: packet) {
      guard let place = places[packet.stream] else { continue }
      let base = input.streams[packet.stream].timeBase
      let time = unsafe packet.pointer.pointee.pts
      if let length, time != ffmedia_no_time {
        output.tell(Double(time) * Double(base.num) / Double(max(1, base.den)) / length)
      }
      try output.write(packet, to: place, timeBase: base)
    }
  }
}
