internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The audio of several videos in sequence, encoded as one track. Silence replaces audio that is missing or shorter
/// than the pictures.
final class JoinedSound {
  private let encoder: SoundEncoder
  private let chain: String
  private let silence: MediaFrame
  private var current: (decoder: MediaDecoder, filters: FilterChain, stream: MediaStream)?
  private var times: RunningTime
  private var place = 0
  /// The maximum time, in seconds.
  private static let longest = 1e9
  /// The number of samples passed to the encoder.
  private(set) var count: Int64 = 0

  var rate: Int { encoder.shape.rate }

  /// Creates a track with the rate and channels of `sound`.
  init(of sound: OpenSound, hasGlobalHeader: Bool) throws(JobFailure) {
    guard let target = SoundTarget.named("m4a") else { throw .unknown }
    let settings = try SoundSettings(target, for: sound.facts, SoundChanges())
    encoder = try SoundEncoder(settings, wantsGlobalHeaders: hasGlobalHeader)
    silence = try MediaFrame()
    times = RunningTime(from: 0, in: sound.stream.timeBase)
    let shape = encoder.shape
    let format = unsafe av_get_sample_fmt_name(shape.format).map { unsafe String(cString: $0) } ?? "fltp"
    chain =
      "aresample=async=1:min_hard_comp=0.1:first_pts=0,"
      + "aformat=sample_fmts=\(format):sample_rates=\(shape.rate):channel_layouts=\(shape.layoutName)"
  }

  func declare(in output: MediaOutput) throws(JobFailure) {
    place = Int(unsafe try output.addStream(from: encoder.context, tags: MediaTags()).pointee.index)
  }

  /// Begins the audio of the next video. `stream` is `nil` if it has none.
  func begin(_ stream: MediaStream?, of input: MediaInput) throws(JobFailure) {
    current = try stream.map { (stream) throws(JobFailure) in
      times = RunningTime(from: FilmWindow(of: input).origin(in: stream.timeBase), in: stream.timeBase)
      return (try MediaDecoder(stream, of: input), FilterChain(chain, runLength: 0), stream)
    }
  }

  func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure) {
    guard let (decoder, filters, stream) = current else { return }
    try decoder.decode(packet) { (frame) throws(JobFailure) in
      let rate = unsafe frame.pointer.pointee.sample_rate
      guard rate > 0, frame.sampleCount > 0 else { return }
      let time = unsafe frame.pointer.pointee.pts
      if time != ffmedia_no_time {
        let shown = av_rescale_q(times.place(time), stream.timeBase, AVRational(num: 1, den: rate))
        unsafe frame.pointer.pointee.pts = shown
      }
      try filters.filter(frame, entry: FilterGraph.entry(ofSamples: frame)) { (made, _) throws(JobFailure) in
        try code(made, output)
      }
    }
  }

  /// Ends the audio of a video whose pictures end at a time, in seconds.
  func endPart(at seconds: Double, _ output: MediaOutput) throws(JobFailure) {
    try take(nil, output)
    try current?.filters.finish { (made, _) throws(JobFailure) in try code(made, output) }
    current = nil
    var missing = Int64(max(0, min(Self.longest, seconds)) * Double(rate)) - count
    while missing > 0 {
      guard silence.allocate(Int(min(missing, 8192)), encoder.shape) else { throw .noMemory() }
      silence.fillWithSilence(from: 0, encoder.shape)
      missing -= Int64(silence.sampleCount)
      try code(silence, output)
    }
  }

  func finish(_ output: MediaOutput) throws(JobFailure) {
    try encoder.finish { (packet) throws(JobFailure) in
      try output.write(packet, to: place, timeBase: encoder.timeBase)
    }
  }

  private func code(_ samples: MediaFrame, _ output: MediaOutput) throws(JobFailure) {
    count += Int64(samples.sampleCount)
    try encoder.encode(samples) { (packet) throws(JobFailure) in
      try output.write(packet, to: place, timeBase: encoder.timeBase)
    }
  }
}

extension SoundShape {
  /// The name of the channel layout in filters.
  fileprivate var layoutName: String {
    var layout = unsafe layout
    var name = [CChar](repeating: 0, count: 64)
    guard unsafe av_channel_layout_describe(&layout, &name, name.count) > 0 else { return "stereo" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
