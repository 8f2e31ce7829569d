internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A video track that is decoded, changed and encoded again.
@safe final class CodedPictures: CodedTrack {
  /// The number of pictures per second.
  let rate: AVRational

  init(
    _ stream: MediaStream, of input: MediaInput, _ coding: PictureCoding, _ changes: FilmChanges, _ window: FilmWindow,
    hasGlobalHeader: Bool
  ) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    let encoder = try MediaEncoder(coding.encoder, hasGlobalHeader: hasGlobalHeader)
    let geometry = try unsafe PictureGeometry(stream, original, changes, coding)
    let colours = unsafe PictureColours(
      original.pointee.codecpar.pointee, keepsFullRange: coding.pixelFormat == "yuvj420p")
    let usual = unsafe Self.usualRate(av_guess_frame_rate(input.context, original, nil))
    let most = coding.usualMostRate.map { AVRational(num: $0, den: 1) } ?? usual
    let asked =
      changes.pictureRate.map { AVRational(num: $0.num, den: $0.den) } ?? (av_cmp_q(usual, most) > 0 ? most : usual)
    rate = Self.nearest(to: asked, coding.rates)
    let isEven = !coding.keepsTimes || changes.pictureRate != nil
    var chain =
      (window.filters("") + (isEven ? Self.evenTimes(rate) : [])
      + geometry.chain(colours, coding.pixelFormat)).joined(separator: ",")
    let remarks = [
      geometry.remark, colours.remark, av_cmp_q(rate, asked) == 0 ? nil : "\(rate.num)/\(rate.den) pictures a second",
    ].compactMap(\.self)
    let base = stream.timeBase
    let isFine = base.num == 1 && (1000...1_000_000).contains(base.den) && window.speed == 1
    let timeBase =
      isEven ? AVRational(num: rate.den, den: rate.num) : isFine ? base : AVRational(num: 1, den: 90_000)
    unsafe Self.describe(encoder.context, geometry, colours, coding, timeBase, rate, changes)
    var options = coding.options
    if changes.bitRate != nil, coding.hasRateFactor {
      options["crf"] = nil
      options["b"] = nil
    }
    if let quality = changes.quality, coding.hasRateFactor {
      options["crf"] = "\(coding.encoder.contains("26") ? min(quality, 51) : quality)"
    }
    try encoder.open(options)
    var palette: MediaFrame?
    if coding.hasPalette {
      palette = try Palette.make(of: input, stream, chain, window)
      chain += "[pictures];[pictures][palette]paletteuse=dither=sierra2_4a"
    }
    try super.init(stream, of: input, encoder, FilterChain(chain, palette: palette), window, remarks)
  }

  /// Continues another track with the same encoder. Pictures are scaled to fit its size, with bars beside or above
  /// them.
  init(
    _ stream: MediaStream, of input: MediaInput, _ coding: PictureCoding, following first: CodedPictures
  ) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    let width = Int(unsafe first.encoder.context.pointee.width)
    let height = Int(unsafe first.encoder.context.pointee.height)
    let geometry = try unsafe PictureGeometry(stream, original, FilmChanges(), coding) { sides in
      min(Double(width) / sides.0, Double(height) / sides.1)
    }
    let colours = unsafe PictureColours(
      original.pointee.codecpar.pointee, keepsFullRange: coding.pixelFormat == "yuvj420p")
    rate = first.rate
    let chain =
      Self.evenTimes(rate) + geometry.chain(colours, coding.pixelFormat)
      + ["pad=\(width):\(height):(ow-iw)/2:(oh-ih)/2", "setsar=1"]
    try super.init(
      stream, of: input, first.encoder, FilterChain(chain.joined(separator: ",")), FilmWindow(of: input), [])
  }

  /// Returns the filters that output a picture at each step of `rate`. The first picture moves by less than a step, so
  /// that later ones fall on theirs.
  private static func evenTimes(_ rate: AVRational) -> [String] {
    let step = "\(rate.den)/\(rate.num)/TB"
    return [
      "setpts=round(PTS-STARTPTS+floor(STARTPTS/(\(step))+0.01)*\(step))", "fps=\(rate.num)/\(rate.den):start_time=0",
    ]
  }

  private static func describe(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ geometry: PictureGeometry, _ colours: PictureColours,
    _ coding: PictureCoding, _ timeBase: AVRational, _ rate: AVRational, _ changes: FilmChanges
  ) {
    unsafe context.pointee.width = Int32(geometry.width)
    unsafe context.pointee.height = Int32(geometry.height)
    unsafe context.pointee.pix_fmt = coding.hasPalette ? AV_PIX_FMT_PAL8 : av_get_pix_fmt(coding.pixelFormat)
    unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
    unsafe context.pointee.time_base = timeBase
    unsafe context.pointee.framerate = rate
    unsafe context.pointee.color_range = colours.range
    unsafe context.pointee.color_primaries = colours.primaries
    unsafe context.pointee.color_trc = colours.transfer
    unsafe context.pointee.colorspace = colours.space
    let group = coding.groupSeconds.map { av_rescale(Int64($0), Int64(rate.num), Int64(rate.den)) }
    unsafe context.pointee.gop_size = group.map { Int32(clamping: max(1, $0)) } ?? coding.groupSize
    // A fixed number on every machine, since it affects the bytes.
    unsafe context.pointee.thread_count = 2
    if let rate = changes.bitRate {
      unsafe context.pointee.bit_rate = Int64(rate) * 1000
    } else if let usual = coding.quantizer {
      unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE
      unsafe context.pointee.global_quality =
        FF_QP2LAMBDA * Int32(changes.quality.map { coding.quantizer(for: $0) } ?? usual)
    }
  }

  /// Returns the container's rate, or 25 if it is missing or implausible.
  private static func usualRate(_ rate: AVRational) -> AVRational {
    guard rate.num > 0, rate.den > 0, (1...240).contains(Double(rate.num) / Double(rate.den)) else {
      return AVRational(num: 25, den: 1)
    }
    var num: Int32 = 0
    var den: Int32 = 0
    unsafe av_reduce(&num, &den, Int64(rate.num), Int64(rate.den), 65_535)
    return AVRational(num: num, den: den)
  }

  private static func nearest(to rate: AVRational, _ rates: [(Int32, Int32)]) -> AVRational {
    func value(_ rate: (Int32, Int32)) -> Double { Double(rate.0) / Double(rate.1) }
    let wanted = value((rate.num, rate.den))
    let best = rates.min { abs(value($0) - wanted) < abs(value($1) - wanted) }
    return best.map { AVRational(num: $0.0, den: $0.1) } ?? rate
  }

  override func describe(_ made: UnsafeMutablePointer<AVStream>) { unsafe made.pointee.avg_frame_rate = rate }

  override func timeBase(of picture: MediaFrame) -> AVRational? {
    unsafe picture.pointer.pointee.pts == ffmedia_no_time ? nil : stream.timeBase
  }

  override func entry(of picture: MediaFrame) -> String { FilterGraph.entry(of: picture, stream.timeBase) }

  override func complete(_ packet: MediaPacket) -> Bool {
    if unsafe packet.pointer.pointee.duration == 0 {
      unsafe packet.pointer.pointee.duration = av_rescale_q(
        1, AVRational(num: rate.den, den: rate.num), encoder.timeBase)
    }
    return true
  }
}
