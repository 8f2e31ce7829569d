internal import CFFmpeg
internal import WorkerKit

/// The layout of samples in memory, and the sample rate.
struct SoundShape: Hashable {
  /// The sample rate, in samples per second and channel.
  var rate: Int
  var channels: Int
  /// The loudspeakers of the channels, as a mask of FFmpeg's bits. 0 if unknown.
  var speakers: UInt64
  var format: AVSampleFormat

  static let mostChannels = 32
  static let rates = 1000...768_000

  init(rate: Int, channels: Int, speakers: UInt64? = nil, format: AVSampleFormat) {
    self.rate = rate
    self.channels = channels
    self.speakers = speakers ?? Self.usualSpeakers(for: channels)
    self.format = format
  }

  /// Returns `nil` if the number of channels or the rate is out of range.
  init?(_ layout: AVChannelLayout, rate: Int32, format: Int32) {
    let channels = Int(unsafe layout.nb_channels)
    guard (1...Self.mostChannels).contains(channels), Self.rates.contains(Int(rate)), format >= 0 else { return nil }
    let isNative = unsafe layout.order == AV_CHANNEL_ORDER_NATIVE
    self.init(
      rate: Int(rate), channels: channels, speakers: isNative ? unsafe layout.u.mask : nil,
      format: AVSampleFormat(format))
  }

  static func usualSpeakers(for channels: Int) -> UInt64 {
    var layout = unsafe AVChannelLayout()
    unsafe av_channel_layout_default(&layout, Int32(channels))
    guard unsafe layout.order == AV_CHANNEL_ORDER_NATIVE else { return 0 }
    return unsafe layout.u.mask
  }

  var layout: AVChannelLayout {
    var layout = unsafe AVChannelLayout()
    let code = unsafe speakers == 0 ? -1 : av_channel_layout_from_mask(&layout, speakers)
    if code < 0 {
      unsafe layout.order = AV_CHANNEL_ORDER_UNSPEC
      unsafe layout.nb_channels = Int32(channels)
    }
    return unsafe layout
  }

  /// Whether each channel is stored separately.
  var isPlanar: Bool { av_sample_fmt_is_planar(format) != 0 }
  /// The size of one sample of one channel, in bytes.
  var sampleSize: Int { Int(av_get_bytes_per_sample(format)) }

  static func == (one: SoundShape, other: SoundShape) -> Bool {
    one.rate == other.rate && one.channels == other.channels && one.speakers == other.speakers
      && one.format == other.format
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(rate)
    hasher.combine(channels)
  }
}

extension MediaFrame {
  /// The number of samples in each channel.
  var sampleCount: Int { Int(unsafe pointer.pointee.nb_samples) }

  /// The shape of the samples. `nil` if the number of channels or the rate is out of range.
  var shape: SoundShape? {
    unsafe SoundShape(pointer.pointee.ch_layout, rate: pointer.pointee.sample_rate, format: pointer.pointee.format)
  }

  /// Allocates memory for `count` samples. Returns false if that fails.
  func allocate(_ count: Int, _ shape: SoundShape) -> Bool {
    clear()
    unsafe pointer.pointee.nb_samples = Int32(count)
    unsafe pointer.pointee.format = shape.format.rawValue
    unsafe pointer.pointee.sample_rate = Int32(shape.rate)
    unsafe pointer.pointee.ch_layout = shape.layout
    return unsafe av_frame_get_buffer(pointer, 0) >= 0
  }

  /// Removes the first `count` samples.
  func drop(first count: Int, _ shape: SoundShape) {
    guard unsafe av_frame_make_writable(pointer) >= 0 else { return keep(first: 0) }
    let rest = max(0, sampleCount - count)
    let planes = unsafe pointer.pointee.extended_data
    if rest > 0, count > 0 {
      unsafe av_samples_copy(
        planes, planes, 0, Int32(count), Int32(rest), Int32(shape.channels), shape.format)
    }
    unsafe pointer.pointee.nb_samples = Int32(rest)
  }

  /// Removes all but the first `count` samples.
  func keep(first count: Int) { unsafe pointer.pointee.nb_samples = Int32(min(max(0, count), sampleCount)) }

  /// Multiplies samples by a factor if they are planar floating-point numbers.
  func amplify(by factor: Float, _ shape: SoundShape) throws(JobFailure) {
    guard shape.format == AV_SAMPLE_FMT_FLTP else { return }
    guard unsafe av_frame_make_writable(pointer) >= 0, let planes = unsafe pointer.pointee.extended_data else {
      throw .noMemory()
    }
    for channel in 0..<shape.channels {
      guard let plane = unsafe planes[channel] else { continue }
      unsafe plane.withMemoryRebound(to: Float.self, capacity: sampleCount) { samples in
        for place in 0..<sampleCount { unsafe samples[place] *= factor }
      }
    }
  }

  func fillWithSilence(from first: Int, _ shape: SoundShape) {
    unsafe av_samples_set_silence(
      pointer.pointee.extended_data, Int32(first), Int32(sampleCount - first), Int32(shape.channels), shape.format)
  }
}
