internal import CFFmpeg
internal import WorkerKit

/// How many samples a sound has, told by its packets, of which none is decoded.
enum SampleCount {
  /// nil where packets do not tell how long they are.
  static func count(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) -> Int64? {
    guard tellsLength(stream.codecName) else { return nil }
    input.use(only: [stream.index])
    defer { try? input.rewind(stream) }
    return try walk(stream, of: input)?.count
  }

  /// Of these the sum of what packets say is what comes of them.
  private static func tellsLength(_ codec: String) -> Bool {
    ["aac", "mp3", "mp2", "ac3", "eac3", "opus", "vorbis", "flac", "alac", "dts"].contains(codec)
      || codec.hasPrefix("pcm_")
  }

  /// `lead`: how many samples before the first are padding.
  static func walk(
    _ stream: MediaStream, of input: MediaInput
  ) throws(JobFailure) -> (count: Int64, lead: Int64)? {
    let base = stream.timeBase
    let ticks = Int64(base.den)
    let isExact = base.num == 1 && stream.rate > 0 && ticks % Int64(stream.rate) == 0
    let unit = isExact ? ticks / Int64(stream.rate) : 1
    // Matroska counts milliseconds.
    let step = Int64(try unsafe input.stream(stream.index).pointee.codecpar.pointee.frame_size)
    guard isExact || step > 0 && ["aac", "mp3", "ac3"].contains(stream.codecName) else { return nil }
    try input.rewind(stream)
    let packet = try MediaPacket()
    var sum: Int64 = 0
    var padding: (first: Int64, last: Int64) = (0, 0)
    var isFirst = true
    // Ogg cuts the last packet's length itself, and says how much it cut.
    let isOgg = input.formatName == "ogg"
    var end: Int64 = 0
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      let length = isExact ? unsafe packet.pointer.pointee.duration : step
      guard length > 0 else { return nil }
      sum += length
      if isOgg {
        let time = unsafe packet.pointer.pointee.pts
        // One stream behind another starts again.
        guard time != ffmedia_no_time, time + length >= end else { return nil }
        end = time + length
      }
      let own = packet.padding
      if isFirst { padding.first = own.first }
      padding.last = own.last
      isFirst = false
    }
    let count = isOgg ? end / unit : sum / unit - padding.first - padding.last
    return count > 0 ? (count, padding.first) : nil
  }
}

extension MediaPacket {
  /// How many samples at its start and at its end are padding.
  var padding: (first: Int64, last: Int64) {
    var size = 0
    guard let data = unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8 else {
      return (0, 0)
    }
    func word(_ place: Int) -> Int64 {
      (0..<4).reduce(0) { unsafe $0 | Int64(data[place + $1]) << (8 * Int64($1)) }
    }
    return (word(0), word(4))
  }
}
