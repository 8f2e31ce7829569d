internal import CFFmpeg
internal import WorkerKit

/// Returns how many samples each packet of a stream decodes to, without decoding it.
///
/// Packets have to come in their order, from the first one on. A container's own lengths are used only if its clock is as
/// fine as the samples: many round to milliseconds.
@safe final class PacketLength {
  private let stream: MediaStream
  private let parameters: UnsafeMutablePointer<AVCodecParameters>
  private let vorbis: OpaquePointer?
  /// Ogg counts exactly, and cuts the last packet.
  private let isOgg: Bool

  init(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    self.stream = stream
    unsafe parameters = try unsafe input.stream(stream.index).pointee.codecpar
    let isVorbis = stream.codec == AV_CODEC_ID_VORBIS
    isOgg = input.formatName == "ogg"
    unsafe vorbis =
      isVorbis && !isOgg
      ? av_vorbis_parse_init(parameters.pointee.extradata, parameters.pointee.extradata_size) : nil
  }

  deinit {
    var last: OpaquePointer? = unsafe vorbis
    unsafe av_vorbis_parse_free(&last)
  }

  /// Nil if neither the packet nor the container tells.
  func samples(in packet: MediaPacket) -> Int64? {
    let size = unsafe packet.pointer.pointee.size
    // Those of discs have groups of samples, of which the last may not be whole.
    let isGrouped = ["pcm_dvd", "pcm_bluray"].contains(stream.codecName)
    let isPlain = !isGrouped && ["pcm_", "adpcm_"].contains { stream.codecName.hasPrefix($0) }
    if !isPlain, unsafe vorbis == nil, let told = unsafe stream.samples(packet.pointer.pointee.duration),
      told > 0 || isOgg
    {
      return told
    }
    switch stream.codecName {
    case "opus": return packet.opusLength.flatMap { stream.rate == 48_000 ? $0 : nil }
    case "flac": return packet.flacLength
    case "dts": return packet.dtsLength
    case "eac3": return packet.eac3Length
    case "alac": return packet.alacLength ?? alacFrame
    case "vorbis":
      guard let vorbis = unsafe vorbis else { return nil }
      let length = unsafe av_vorbis_parse_frame(vorbis, packet.pointer.pointee.data, size)
      return length >= 0 ? Int64(length) : nil
    case "ac3", "aac", "mp3", "mp2", "gsm", "gsm_ms", "amr_nb", "amr_wb": break
    default: if !isPlain { return nil }
    }
    let length = unsafe av_get_audio_frame_duration2(parameters, size)
    return length > 0 ? Int64(length) : nil
  }

  /// The number of samples in each packet of ALAC that does not say otherwise: in the header that goes before its packets.
  private var alacFrame: Int64? {
    guard unsafe parameters.pointee.extradata_size >= 16, let header = unsafe parameters.pointee.extradata else {
      return nil
    }
    let length = (12..<16).reduce(0 as Int64) { unsafe $0 << 8 | Int64(header[$1]) }
    return 1...Self.longestFrame ~= length ? length : nil
  }

  private static let longestFrame: Int64 = 1 << 16

  /// The number of samples at either end of a packet that are padding: as the container marks them, or because it says that
  /// the packet is shorter than all packets of its coding are.
  func padding(of packet: MediaPacket) -> (first: Int64, last: Int64) {
    let marked = packet.padding
    let isOpus = stream.codec == AV_CODEC_ID_OPUS
    let frame = isOpus ? packet.opusLength ?? 0 : Int64(unsafe parameters.pointee.frame_size)
    guard marked.last == 0, ["aac", "mp3", "mp2", "ac3", "opus"].contains(stream.codecName),
      let told = unsafe stream.samples(packet.pointer.pointee.duration), told > 0, told < frame
    else { return marked }
    return (marked.first, frame - told)
  }
}

extension MediaStream {
  /// The number of samples in some units of the stream's time. Nil if a unit is longer than a sample.
  func samples(_ length: Int64) -> Int64? {
    let (num, den) = (Int64(timeBase.num) * Int64(rate), Int64(timeBase.den))
    return num > 0 && den >= num && den % num == 0 ? length / (den / num) : nil
  }
}
