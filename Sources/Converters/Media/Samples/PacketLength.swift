internal import CFFmpeg
internal import WorkerKit

/// A counter of the samples that each packet of a stream decodes to, without decoding it.
///
/// Packets have to be passed in order, from the first one on. A container's own lengths are used only if its clock is
/// as fine as the samples. Many containers round to milliseconds.
@safe final class PacketLength {
  private let stream: MediaStream
  private let parameters: UnsafeMutablePointer<AVCodecParameters>
  private let vorbis: OpaquePointer?
  /// Whether the container is Ogg, which counts exactly and shortens the last packet.
  private let isOgg: Bool
  /// The number of samples in the first packet of Speex in Ogg.
  private var longest: Int64 = 0

  init(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    self.stream = stream
    guard let copy = unsafe avcodec_parameters_alloc() else { throw .noMemory() }
    unsafe parameters = copy
    let original = try unsafe input.stream(stream.index)
    try unsafe checked(avcodec_parameters_copy(copy, original.pointee.codecpar), "cannot be measured")
    let isVorbis = stream.codec == AV_CODEC_ID_VORBIS
    isOgg = input.formatName == "ogg"
    unsafe vorbis =
      isVorbis
      ? av_vorbis_parse_init(parameters.pointee.extradata, parameters.pointee.extradata_size) : nil
  }

  deinit {
    var last: OpaquePointer? = unsafe vorbis
    unsafe av_vorbis_parse_free(&last)
    var copy: UnsafeMutablePointer<AVCodecParameters>? = unsafe parameters
    unsafe avcodec_parameters_free(&copy)
  }

  /// Returns the number of samples. Returns `nil` if neither the packet nor the container records it.
  func samples(in packet: MediaPacket) -> Int64? {
    let size = unsafe packet.pointer.pointee.size
    // PCM of discs is stored in groups of samples, of which the last may be incomplete.
    let isGrouped = ["pcm_dvd", "pcm_bluray"].contains(stream.codecName)
    let isPlain = !isGrouped && ["pcm_", "adpcm_"].contains { stream.codecName.hasPrefix($0) }
    let parsed = unsafe vorbis.map { vorbis in
      Int64(unsafe av_vorbis_parse_frame(vorbis, packet.pointer.pointee.data, size))
    }
    if let parsed, !isOgg { return parsed >= 0 ? parsed : nil }
    if !isPlain, let told = unsafe stream.samples(packet.pointer.pointee.duration),
      told > 0 || isOgg
    {
      // If Ogg starts late and has one page, FFmpeg lets the last packet last longer.
      guard isOgg, ["vorbis", "flac", "speex"].contains(stream.codecName) else { return told }
      let own = parsed ?? (stream.codecName == "flac" ? packet.flacLength : nil)
      if let own, own >= 0 { return min(told, own) }
      // The packets of Speex are equally long.
      longest = longest == 0 ? told : longest
      return min(told, longest)
    }
    switch stream.codecName {
    case "opus": return packet.opusLength.flatMap { stream.rate == 48_000 ? $0 : nil }
    case "flac": return packet.flacLength
    case "dts": return packet.dtsLength
    case "eac3": return packet.eac3Length
    case "alac": return packet.alacLength ?? alacFrame
    case "ac3", "aac", "mp3", "mp2", "gsm", "gsm_ms", "amr_nb", "amr_wb": break
    default: if !isPlain { return nil }
    }
    let length = unsafe av_get_audio_frame_duration2(parameters, size)
    return length > 0 ? Int64(length) : nil
  }

  /// The number of samples in each packet of ALAC that does not record it, from the header before the packets.
  var alacFrame: Int64? {
    guard unsafe parameters.pointee.extradata_size >= 16, let header = unsafe parameters.pointee.extradata else {
      return nil
    }
    let length = (12..<16).reduce(0 as Int64) { unsafe $0 << 8 | Int64(header[$1]) }
    return 1...Self.longestFrame ~= length ? length : nil
  }

  private static let longestFrame: Int64 = 1 << 16

  /// Returns the numbers of padding samples at either end of a packet. The container marks them, or records a shorter
  /// length than all packets of the codec have.
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
  /// Returns the number of samples in a duration in units of the stream's time. Returns `nil` if a unit is longer than
  /// a sample.
  func samples(_ length: Int64) -> Int64? {
    let (num, den) = (Int64(timeBase.num) * Int64(rate), Int64(timeBase.den))
    return num > 0 && den >= num && den % num == 0 ? length / (den / num) : nil
  }
}
