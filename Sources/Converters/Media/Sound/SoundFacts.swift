internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The properties of an audio stream before a conversion.
struct SoundFacts {
  let shape: SoundShape
  /// The number of bits per sample of lossless audio. `nil` for other audio.
  let depth: Int?
  /// Whether samples are floating-point numbers, which can exceed full scale.
  let isFloating: Bool

  init(_ stream: MediaStream, of input: MediaInput) throws(JobFailure) {
    let parameters = try unsafe input.stream(stream.index).pointee.codecpar.pointee
    guard
      let shape = unsafe SoundShape(
        parameters.ch_layout, rate: parameters.sample_rate, format: max(0, parameters.format))
    else {
      throw JobFailure(.unsupported, "has \(stream.channels) channels at \(stream.rate) Hz, which is out of range")
    }
    self.shape = shape
    let descriptor = unsafe avcodec_descriptor_get(parameters.codec_id)
    let isLossless = unsafe descriptor.map { unsafe $0.pointee.props & AV_CODEC_PROP_LOSSLESS != 0 } ?? false
    let said = max(Int(unsafe parameters.bits_per_raw_sample), Int(unsafe parameters.bits_per_coded_sample))
    let isPCM = stream.codecName.hasPrefix("pcm_")
    isFloating = isPCM && stream.codecName.hasPrefix("pcm_f")
    let isWide = isLossless || isPCM && !["pcm_alaw", "pcm_mulaw"].contains(stream.codecName)
    depth = isWide ? (said <= 16 ? 16 : said <= 24 ? 24 : 32) : nil
  }

  /// Returns the requested shape, regardless of the target.
  func shape(_ changes: SoundChanges) -> SoundShape {
    var wanted = shape
    if let rate = changes.rate { wanted.rate = rate }
    if let channels = changes.channels, channels.count != wanted.channels {
      wanted.channels = channels.count
      wanted.speakers = SoundShape.usualSpeakers(for: channels.count)
    }
    return wanted
  }
}
