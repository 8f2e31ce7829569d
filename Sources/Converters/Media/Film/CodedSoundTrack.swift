internal import CFFmpeg
internal import WorkerKit

/// A track of sound that is decoded, changed and coded again.
@safe final class CodedSoundTrack: MadeTrack {
  let source: Int
  private let stream: MediaStream
  private let decoder: TrackDecoder
  private let encoder: TrackEncoder
  private let chain: String
  private var times: RunningTime
  private let end: Double?
  private var graph: FilterGraph?
  private var entry = ""
  private var place = 0
  /// Added to all times, in seconds.
  var shift = 0.0
  /// Which packets are written, by their times after that; in samples.
  var kept = Int64.min..<Int64.max
  private(set) var isDone = false
  /// What is to be said of the result.
  let remarks: [String]

  init(
    _ stream: MediaStream, of input: MediaInput, _ coding: SoundCoding, _ window: FilmWindow, hasGlobalHeader: Bool
  ) throws(JobFailure) {
    self.stream = stream
    source = stream.index
    decoder = try unsafe TrackDecoder(input.stream(stream.index))
    encoder = try TrackEncoder(coding.encoder, hasGlobalHeader: hasGlobalHeader)
    let rate = Self.nearest(to: stream.rate, coding.rates.isEmpty ? encoder.rates : coding.rates)
    let layout = Self.layout(of: stream.channels, among: coding.layouts)
    let format = encoder.sampleFormats.first ?? "fltp"
    times = RunningTime(from: window.origin(in: stream.timeBase), in: stream.timeBase)
    end = window.end
    chain =
      (window.filters("a") + [
        "aresample=async=1:min_hard_comp=0.1:first_pts=0",
        "aformat=sample_fmts=\(format):sample_rates=\(rate):channel_layouts=\(layout.name)",
      ]).joined(separator: ",")
    remarks = [
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
  }

  /// Samples a second of the result.
  var rate: Int { Int(unsafe encoder.context.pointee.sample_rate) }

  /// The smallest that is not below; else the largest.
  private static func nearest(to rate: Int, _ rates: [Int]) -> Int {
    if rates.isEmpty || rates.contains(rate) { return max(rate, 8000) }
    return rates.filter { $0 >= rate }.min() ?? rates.max() ?? rate
  }

  /// The one with as many channels, or the largest with fewer.
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

  func declare(in output: MediaOutput) throws(JobFailure) {
    let made = try unsafe output.addStream(from: encoder.context, tags: stream.tags)
    unsafe made.pointee.disposition = stream.isDefault ? AV_DISPOSITION_DEFAULT : 0
    place = Int(unsafe made.pointee.index)
  }

  func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure) {
    if isDone { return }
    try decoder.decode(packet) { (frame) throws(JobFailure) in try take(frame, output) }
    if packet == nil { try finish(output) }
  }

  private func take(_ frame: MediaFrame, _ output: MediaOutput) throws(JobFailure) {
    if isDone { return }
    let rate = unsafe frame.pointer.pointee.sample_rate
    guard rate > 0, unsafe frame.pointer.pointee.nb_samples > 0 else { return }
    let time = unsafe frame.pointer.pointee.pts
    let base = AVRational(num: 1, den: rate)
    if time != ffmedia_no_time {
      let shown = av_rescale_q(times.place(time), stream.timeBase, base)
      unsafe frame.pointer.pointee.pts = shown
      if let end, Double(shown) / Double(rate) > end { return try finish(output) }
    }
    try graph(for: frame, output).filter(frame) { (samples) throws(JobFailure) in try code(samples, output) }
  }

  /// A graph is for samples of one kind.
  private func graph(for frame: MediaFrame, _ output: MediaOutput) throws(JobFailure) -> FilterGraph {
    let rate = unsafe frame.pointer.pointee.sample_rate
    var name = [CChar](repeating: 0, count: 64)
    if unsafe frame.pointer.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      let channels = unsafe frame.pointer.pointee.ch_layout.nb_channels
      unsafe av_channel_layout_default(&frame.pointer.pointee.ch_layout, channels)
    }
    _ = unsafe av_channel_layout_describe(&frame.pointer.pointee.ch_layout, &name, name.count)
    let layout = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let entry = unsafe """
    time_base=1/\(rate):sample_rate=\(rate):sample_fmt=\(frame.pointer.pointee.format):channel_layout=\(layout)
    """
    if let graph, entry == self.entry { return graph }
    try graph?.filter(nil) { (samples) throws(JobFailure) in try code(samples, output) }
    let made = try FilterGraph("a", from: entry, chain)
    made.setRunLength(encoder.runLength)
    (graph, self.entry) = (made, entry)
    return made
  }

  private func code(_ samples: MediaFrame?, _ output: MediaOutput) throws(JobFailure) {
    if let samples, let graph {
      unsafe samples.pointer.pointee.pts = av_rescale_q(samples.pointer.pointee.pts, graph.timeBase, encoder.timeBase)
    }
    try encoder.encode(samples) { (packet) throws(JobFailure) in
      packet.delay(by: shift, encoder.timeBase)
      guard kept.contains(unsafe packet.pointer.pointee.pts) else { return }
      try output.write(packet, to: place, timeBase: encoder.timeBase)
    }
  }

  private func finish(_ output: MediaOutput) throws(JobFailure) {
    try graph?.filter(nil) { (samples) throws(JobFailure) in try code(samples, output) }
    try code(nil, output)
    isDone = true
  }
}
