internal import CFFmpeg
internal import WorkerKit

/// The number of samples in an audio stream, from the container's header or the packets. Only the first packets are
/// decoded.
enum SampleCount {
  /// Returns the number of samples. Returns `nil` if it is not recorded. Packets of WMA and Musepack 8 have more or
  /// fewer samples than recorded.
  static func count(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) -> Int64? {
    let told = stream.duration.flatMap(stream.samples)
    if ["ape", "tak"].contains(stream.codecName) { return told.flatMap { $0 > 0 ? $0 : nil } }
    guard tellsLength(stream.codecName) else { return nil }
    input.use(only: [stream.index])
    defer { try? input.rewind(stream) }
    guard let found = try walk(stream, of: input) else { return nil }
    // The last block may be padded.
    if stream.codecName.hasPrefix("dsd_") { return min(found.count, told ?? found.count) }
    // Ogg's numbers take into account that the first packet yields no samples.
    if input.formatName == "ogg" || stream.codecName.hasPrefix("pcm_") { return found.count }
    guard let lacking = try lackingAtStart(stream, of: input) else { return nil }
    return found.count > lacking ? found.count - lacking : nil
  }

  /// Returns whether the decoded samples of a codec are as many as its packets record, except for the first packets.
  private static func tellsLength(_ codec: String) -> Bool {
    [
      "aac", "mp3", "mp2", "ac3", "eac3", "opus", "vorbis", "flac", "alac", "dts", "speex", "gsm", "gsm_ms", "amr_nb",
      "amr_wb", "musepack7",
    ].contains(codec) || ["pcm_", "adpcm_", "dsd_"].contains { codec.hasPrefix($0) }
  }

  /// Counts the samples of all packets. `padding` is the number of padding samples before the first and after the last,
  /// which are not counted. `isContinuous` tells whether each packet starts where the one before ends, and the first at
  /// 0. Returns `nil` if a number is missing.
  static func walk(
    _ stream: MediaStream, of input: MediaInput
  ) throws(JobFailure) -> (count: Int64, padding: (first: Int64, last: Int64), isContinuous: Bool)? {
    let lengths = try PacketLength(stream, of: input)
    let packet = try MediaPacket()
    // Some packets record their length only after a seek.
    _ = try input.read(into: packet)
    try input.rewind(stream)
    var sum: Int64 = 0
    // The sum without data after the last MPEG frame, such as other tags.
    var whole: Int64 = 0
    var padding: (first: Int64, last: Int64) = (0, 0)
    // Ogg shortens the last packet and records by how much.
    let isOgg = input.formatName == "ogg"
    // FFmpeg's times of Vorbis are off by less than a packet where a page ends.
    let slack: Int64 = stream.codecName == "vorbis" ? 4096 : 0
    var (start, end): (Int64?, Int64) = (nil, 0)
    // The samples that the decoder of Opus drops at the start.
    let skipped = Int64(max(0, try unsafe input.stream(stream.index).pointee.codecpar.pointee.initial_padding))
    var (packets, isEnded, isContinuous) = (0, false, true)
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      guard let length = lengths.samples(in: packet), length >= 0 else { return nil }
      let own = packet.padding
      if packets == 0 { padding.first = own.first }
      if isOgg {
        guard let time = packet.time else {
          // Packets after the end may be cut off entirely.
          guard start != nil else { return nil }
          continue
        }
        guard length > 0, let place = stream.samples(time) else { return nil }
        // A chained stream starts again.
        guard place + length >= end else { return nil }
        // FFmpeg counts the first page from 0, and jumps to the time of Ogg at its end.
        if let first = start, place - end > slack, !input.oggPages.contains(where: { $0.lost > 0 }) {
          start = first + (place - end)
        }
        // The padding at the start of Speex is decoded like other samples. The first packet of Vorbis yields none.
        switch stream.codecName {
        case "speex": start = start ?? place
        case "vorbis": start = start ?? max(0, place + length)
        default: start = start ?? max(0, place + skipped)
        }
        end = place + length
        continue
      }
      // Only the first or the last packet can lack a length.
      guard !isEnded else { return nil }
      isEnded = length == 0 && packets > 0
      packets += 1
      if let time = packet.time.flatMap(stream.samples), time != sum { isContinuous = false }
      sum += length
      padding.last += own.last
      if !stream.isMPEGSound || packet.isMPEGFrame { whole = sum }
    }
    let count = isOgg ? end - (start ?? 0) : whole - padding.first - padding.last
    return count > 0 ? (count, padding, isContinuous) : nil
  }

  /// Returns the number of samples missing from the first packets, since an encoder told the decoder to drop them.
  /// Returns `nil` if it exceeds two packets.
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
    // If there are few packets, the last one is decoded whole, although it may be shortened.
    return abs(lacking) <= 2 * (lengths.max() ?? 0) ? max(0, lacking) : nil
  }
}
