internal import CFFmpeg
internal import WorkerKit

/// How many samples a sound has, told by its container's head or by its packets, of which only the first are decoded.
enum SampleCount {
  /// Returns nil if neither tells: WMA's and Musepack 8's packets have more or fewer.
  static func count(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) -> Int64? {
    let told = stream.duration.flatMap(stream.samples)
    if ["ape", "tak"].contains(stream.codecName) { return told.flatMap { $0 > 0 ? $0 : nil } }
    guard tellsLength(stream.codecName) else { return nil }
    input.use(only: [stream.index])
    defer { try? input.rewind(stream) }
    guard let found = try walk(stream, of: input) else { return nil }
    // Its last block may be filled up.
    if stream.codecName.hasPrefix("dsd_") { return min(found.count, told ?? found.count) }
    // Where Ogg's numbers start, the first packet gives no sample.
    if input.formatName == "ogg" || stream.codecName.hasPrefix("pcm_") { return found.count }
    guard let lacking = try lackingAtStart(stream, of: input) else { return nil }
    return found.count > lacking ? found.count - lacking : nil
  }

  /// Of these the sum of what packets say is what comes of them, but for the first.
  private static func tellsLength(_ codec: String) -> Bool {
    [
      "aac", "mp3", "mp2", "ac3", "eac3", "opus", "vorbis", "flac", "alac", "dts", "speex", "gsm", "gsm_ms", "amr_nb",
      "amr_wb", "musepack7",
    ].contains(codec) || ["pcm_", "adpcm_", "dsd_"].contains { codec.hasPrefix($0) }
  }

  /// `lead`: how many samples before the first are padding. `isContinuous`: whether each packet starts where the one before
  /// ends, and the first at 0.
  static func walk(
    _ stream: MediaStream, of input: MediaInput
  ) throws(JobFailure) -> (count: Int64, lead: Int64, isContinuous: Bool)? {
    let lengths = try PacketLength(stream, of: input)
    let packet = try MediaPacket()
    // Some packets say how long they are only after a seek.
    _ = try input.read(into: packet)
    try input.rewind(stream)
    var sum: Int64 = 0
    // Without what may stand behind the last frame of MPEG's, such as other tags.
    var whole: Int64 = 0
    var padding: (first: Int64, last: Int64) = (0, 0)
    // Ogg cuts the last packet's length itself, and says how much it cut.
    let isOgg = input.formatName == "ogg"
    var (start, end): (Int64?, Int64) = (nil, 0)
    var (packets, isEnded, isContinuous) = (0, false, true)
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      guard let length = lengths.samples(in: packet), length >= 0 else { return nil }
      let own = packet.padding
      if packets == 0 { padding.first = own.first }
      if isOgg {
        guard let time = packet.time else {
          // Behind the end there may be packets of which all is cut off.
          guard start != nil else { return nil }
          continue
        }
        guard length > 0, let place = stream.samples(time) else { return nil }
        // One stream behind another starts again.
        guard place + length >= end else { return nil }
        // Speex' padding at the start is decoded as all else is.
        start = start ?? (stream.codecName == "speex" ? place : max(0, place))
        end = place + length
        continue
      }
      // One without a length is the first or the last.
      guard !isEnded else { return nil }
      isEnded = length == 0 && packets > 0
      packets += 1
      if let time = packet.time.flatMap(stream.samples), time != sum { isContinuous = false }
      sum += length
      padding.last += own.last
      if !stream.isMPEGSound || packet.isMPEGFrame { whole = sum }
    }
    let count = isOgg ? end - (start ?? 0) : whole - padding.first - padding.last
    return count > 0 ? (count, padding.first, isContinuous) : nil
  }

  /// How many samples fewer than they say come of the first packets, which an encoder has told the decoder to leave out;
  /// nil if it is more than two packets.
  private static func lackingAtStart(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) -> Int64? {
    let told = try PacketLength(stream, of: input)
    let decoder = try MediaDecoder(stream, of: input)
    let packet = try MediaPacket()
    try input.rewind(stream)
    var lengths: [Int64] = []
    var came: Int64 = 0
    func take(_ frame: MediaFrame, _ shape: SoundShape) { came += Int64(frame.sampleCount) }
    while lengths.count < 4, try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      guard let length = told.samples(in: packet) else { return nil }
      lengths.append(length)
      came += packet.padding.first
      packet.keepEnd()
      try decoder.decodeSound(packet, take)
    }
    try decoder.decodeSound(nil, take)
    let lacking = lengths.reduce(0, +) - came
    // The last of few is decoded whole, though it may be cut.
    return abs(lacking) <= 2 * (lengths.max() ?? 0) ? max(0, lacking) : nil
  }
}
