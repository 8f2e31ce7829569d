internal import CFFmpeg
internal import WorkerKit

/// An audio track that is decoded, changed and encoded again.
@safe final class CodedSoundTrack: CodedTrack {
  /// The times of the packets that are written, in samples.
  var kept = Int64.min..<Int64.max
  /// The end of the input so far, if its samples are counted. `nil` if its times are used.
  private var end: (count: Int64, unit: AVRational)?

  /// - Parameter isCounted: whether times are derived from the number of samples instead of the container's times; for
  ///   streams that are read from their first packet on.
  init(
    _ stream: MediaStream, of input: MediaInput, _ coding: SoundCoding, _ window: FilmWindow, hasGlobalHeader: Bool,
    isCounted: Bool = false
  ) throws(JobFailure) {
    let encoder = try MediaEncoder(coding.encoder, hasGlobalHeader: hasGlobalHeader)
    let rate = Self.nearest(to: stream.rate, coding.rates.isEmpty ? encoder.rates : coding.rates)
    let layout = Self.layout(of: stream.channels, among: coding.layouts)
    let gain = coding.gain(channels: layout.channels)
    // Only floating-point samples can exceed full scale.
    let format = gain == 1 ? encoder.sampleFormats.first ?? "fltp" : "fltp"
    let chain =
      (window.filters("a") + [
        "aresample=async=1:min_hard_comp=0.1:first_pts=0",
        "aformat=sample_fmts=\(format):sample_rates=\(rate):channel_layouts=\(layout.name)",
      ] + (gain == 1 ? [] : ["volume=\(gain):precision=float"])).joined(separator: ",")
    let remarks = [
      rate == stream.rate ? nil : "\(rate) samples a second",
      layout.channels == stream.channels ? nil : "\(layout.channels) channels of \(stream.channels)",
    ].compactMap(\.self)
    let context = unsafe encoder.context
    unsafe context.pointee.sample_fmt = av_get_sample_fmt(format)
    unsafe context.pointee.sample_rate = Int32(rate)
    unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(rate))
    try unsafe checked(
      av_channel_layout_from_string(&context.pointee.ch_layout, layout.name), "has sound in an unknown arrangement")
    if coding.bitRate > 0 { unsafe context.pointee.bit_rate = Int64(coding.bitRate * layout.channels) }
    try encoder.open(coding.options)
    let filters = FilterChain(chain, runLength: encoder.runLength)
    end = isCounted ? (0, AVRational(num: 1, den: Int32(clamping: max(1, stream.rate)))) : nil
    try super.init(stream, of: input, encoder, filters, window, remarks)
  }

  /// The sample rate of the result, in samples per second.
  var rate: Int { Int(unsafe encoder.context.pointee.sample_rate) }

  /// Returns the lowest supported rate that is not below `rate`, or else the highest.
  private static func nearest(to rate: Int, _ rates: [Int]) -> Int {
    if rates.isEmpty || rates.contains(rate) { return max(rate, 8000) }
    return rates.filter { $0 >= rate }.min() ?? rates.max() ?? rate
  }

  /// Returns the layout with the same number of channels, or the largest with fewer.
  private static func layout(of channels: Int, among names: [String]) -> (name: String, channels: Int) {
    let counts = names.map { name -> (name: String, channels: Int) in
      var layout = unsafe AVChannelLayout()
      guard unsafe av_channel_layout_from_string(&layout, name) >= 0 else { return (name, 1) }
      defer { unsafe av_channel_layout_uninit(&layout) }
      return (name, Int(unsafe layout.nb_channels))
    }
    let fitting = counts.filter { $0.channels <= max(1, channels) }
    return fitting.max { $0.channels < $1.channels } ?? counts.min { $0.channels < $1.channels } ?? ("mono", 1)
  }

  override func timeBase(of samples: MediaFrame) -> AVRational? {
    let rate = unsafe samples.pointer.pointee.sample_rate
    return unsafe rate > 0 && samples.pointer.pointee.nb_samples > 0 ? AVRational(num: 1, den: rate) : nil
  }

  override func ownTime(of samples: MediaFrame, in base: AVRational) -> Int64? {
    guard let end else { return nil }
    let time = av_rescale_q(end.count, end.unit, base)
    self.end = (time &+ Int64(samples.sampleCount), base)
    return time
  }

  override func entry(of samples: MediaFrame) -> String { FilterGraph.entry(ofSamples: samples) }

  override func complete(_ packet: MediaPacket) -> Bool { unsafe kept.contains(packet.pointer.pointee.pts) }
}

extension FilterGraph {
  /// Returns the parameters of the filter `abuffer` for a frame of samples.
  static func entry(ofSamples samples: MediaFrame) -> String {
    let rate = unsafe samples.pointer.pointee.sample_rate
    var name = [CChar](repeating: 0, count: 64)
    if unsafe samples.pointer.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      let channels = unsafe samples.pointer.pointee.ch_layout.nb_channels
      unsafe av_channel_layout_default(&samples.pointer.pointee.ch_layout, channels)
    }
    _ = unsafe av_channel_layout_describe(&samples.pointer.pointee.ch_layout, &name, name.count)
    let layout = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return unsafe """
    time_base=1/\(rate):sample_rate=\(rate):sample_fmt=\(samples.pointer.pointee.format):channel_layout=\(layout)
    """
  }
}
