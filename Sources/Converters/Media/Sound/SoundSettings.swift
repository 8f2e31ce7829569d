internal import Bytes
internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The configuration of an encoder for an audio stream.
@safe struct SoundSettings {
  let encoder: UnsafePointer<AVCodec>
  var shape: SoundShape
  /// The bit rate, in bits per second. `nil` if the encoder is not given one.
  var bitRate: Int?
  var quality: Double?
  /// The number of bits per sample.
  var depth: Int?
  var options: [String: String]
  /// The factor applied to samples before an encoder that attenuates them. `nil` for other encoders.
  private(set) var gain: Float?
  /// A remark on changes that the format requires, as the end of a sentence that begins with the file's name. Empty if
  /// there are none.
  private(set) var remark = ""

  init(
    _ target: SoundTarget, for source: SoundFacts, _ changes: SoundChanges
  ) throws(JobFailure) {
    guard
      let encoder = unsafe target.encoders.firstNonNil({ unsafe avcodec_find_encoder_by_name($0) })
    else {
      throw JobFailure(.unsupported, "cannot be coded this way by the installed FFmpeg")
    }
    unsafe self.encoder = unsafe encoder
    options = target.options
    let wanted = source.shape(changes)
    let rate = Self.nearest(to: wanted.rate, among: target.rates.isEmpty ? unsafe Self.rates(encoder) : target.rates)
    let channels = unsafe Self.channels(of: wanted, encoder, atMost: target.mostChannels)
    let depth = changes.depth ?? source.depth ?? 16
    shape = SoundShape(
      rate: rate, channels: channels.count, speakers: channels.speakers,
      format: unsafe Self.format(encoder, depth: target.isLossless ? depth : nil))
    if target.isLossless { self.depth = min(depth, target.mostBits, shape.sampleSize * 8) }
    if let word = changes.quality, let quality = target.quality {
      self.quality = quality(word)
    } else if changes.bitRate == nil, let quality = target.quality, target.usualRate == 0 {
      self.quality = quality(5)
    } else if let rate = changes.bitRate ?? (target.usualRate > 0 ? target.usualRate * shape.channels : nil) {
      let isMP3 = target.muxer == "mp3"
      let kilobits = isMP3 ? MP3Frames.nearest(to: rate, at: shape.rate) : rate
      bitRate = kilobits * 1000
      if isMP3, kilobits < 256 { gain = 1 / (kilobits < 192 ? 0.95 : kilobits < 224 ? 0.97 : 0.98) }
    }
    remark = Self.remark(wanted, shape)
    let given = source.isFloating && changes.depth == nil ? 32 : depth
    if target.isLossless, let depth = self.depth, depth < given {
      let less = "has \(depth) bits per sample instead of \(given), the limit of the encoder"
      remark += remark.isEmpty ? less : "; " + less
    }
  }

  /// The settings with two channels, for encoders that do not support the channel layout.
  var inStereo: SoundSettings {
    var settings = self
    settings.shape = SoundShape(rate: shape.rate, channels: 2, format: shape.format)
    settings.remark = Self.remark(shape, settings.shape)
    return settings
  }

  static func remark(_ wanted: SoundShape, _ shape: SoundShape) -> String {
    var words: [String] = []
    if wanted.rate != shape.rate { words.append("\(shape.rate) Hz instead of \(wanted.rate)") }
    if wanted.channels != shape.channels {
      words.append(
        "\(shape.channels == 1 ? "one channel" : "\(shape.channels) channels") instead of \(wanted.channels)")
    }
    return words.isEmpty ? "" : "has \(words.joined(separator: " and ")), the limit of the format"
  }

  // MARK: Capabilities of encoders

  private static func rates(_ encoder: UnsafePointer<AVCodec>) -> [Int] {
    var rates: [Int] = []
    guard var next = unsafe ffmedia_sample_rates(encoder) else { return [] }
    while unsafe next.pointee != 0 {
      rates.append(Int(unsafe next.pointee))
      unsafe next += 1
    }
    return rates
  }

  /// Returns the lowest rate that loses nothing, or else the highest.
  private static func nearest(to rate: Int, among rates: [Int]) -> Int {
    if rates.isEmpty || rates.contains(rate) { return rate }
    return rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
  }

  private static func channels(
    of wanted: SoundShape, _ encoder: UnsafePointer<AVCodec>, atMost most: Int
  ) -> (count: Int, speakers: UInt64) {
    var possible: [(count: Int, speakers: UInt64)] = []
    if var next = unsafe ffmedia_channel_layouts(encoder) {
      while unsafe next.pointee.nb_channels != 0 {
        unsafe possible.append((Int(next.pointee.nb_channels), next.pointee.u.mask))
        unsafe next += 1
      }
    }
    let count = min(wanted.channels, most)
    guard !possible.isEmpty else {
      return count == wanted.channels
        ? (count, wanted.speakers) : (min(count, 2), SoundShape.usualSpeakers(for: min(count, 2)))
    }
    if let same = possible.first(where: { $0.count == wanted.channels && $0.speakers == wanted.speakers }) {
      return same
    }
    if let same = possible.last(where: { $0.count == wanted.channels }) { return same }
    return possible.filter { $0.count <= count }.max { $0.count < $1.count } ?? possible[0]
  }

  private static func format(_ encoder: UnsafePointer<AVCodec>, depth: Int?) -> AVSampleFormat {
    var possible: [AVSampleFormat] = []
    if var next = unsafe ffmedia_sample_formats(encoder) {
      while unsafe next.pointee != AV_SAMPLE_FMT_NONE {
        possible.append(unsafe next.pointee)
        unsafe next += 1
      }
    }
    let preferred: [AVSampleFormat] =
      if let depth {
        depth <= 16
          ? [AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P]
          : [AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P, AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P]
      } else {
        [AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P]
      }
    return preferred.first(where: possible.contains) ?? possible.first ?? AV_SAMPLE_FMT_S16
  }
}
