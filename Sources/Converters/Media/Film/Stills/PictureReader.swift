internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A reader of single pictures of a video, by time.
@safe final class PictureReader {
  let input: MediaInput
  let stream: MediaStream
  private let decoder: MediaDecoder
  private let packet: MediaPacket
  private let origin: Int64

  /// Returns `nil` if the file has no moving pictures.
  init?(_ input: MediaInput) throws(JobFailure) {
    let films = input.streams.filter { $0.kind == .film && $0.width > 0 && $0.height > 0 }
    guard let stream = films.first(where: \.isDefault) ?? films.first else { return nil }
    self.input = input
    self.stream = stream
    decoder = try MediaDecoder(stream, of: input)
    packet = try MediaPacket()
    origin = FilmWindow(of: input).origin(in: stream.timeBase)
    input.use(only: [stream.index])
  }

  /// The duration in seconds. 0 if unknown.
  var duration: Double { input.duration ?? 0 }

  /// Returns the picture that is shown at a time, in seconds. `isAnyNear` permits an earlier picture that is decoded
  /// faster. Returns `nil` if there is none.
  func picture(at seconds: Double, isAnyNear: Bool = false) throws(JobFailure) -> MediaFrame? {
    input.enter(at: isAnyNear ? seconds + 0.5 : seconds)
    decoder.restart()
    let shown = try MediaFrame()
    let base = stream.timeBase
    // Slightly later, because times are rounded.
    let wanted = (seconds + 0.0005) * Double(base.den) / Double(max(1, base.num))
    var isFound = false
    func take(_ frame: MediaFrame) {
      let time = unsafe frame.pointer.pointee.pts
      if isFound || time == ffmedia_no_time { return }
      let isLate = Double(time &- origin) > wanted
      if isLate, unsafe shown.pointer.pointee.width > 0 {
        isFound = true
        return
      }
      shown.clear()
      unsafe av_frame_move_ref(shown.pointer, frame.pointer)
      isFound = isLate || isAnyNear
    }
    while !isFound, try input.read(into: packet) {
      if packet.stream == stream.index { try decoder.decode(packet, take) }
    }
    if !isFound { try decoder.decode(nil, take) }
    return unsafe shown.pointer.pointee.width > 0 ? shown : nil
  }
}

/// Operations on single pictures.
enum StillPicture {
  /// Returns a stream's picture, upright and with square pixels. `scale` is as in `PictureGeometry`.
  static func shaped(
    _ picture: MediaFrame, _ stream: MediaStream, of input: MediaInput, _ coding: PictureCoding,
    scale: ((Double, Double)) -> Double
  ) throws(JobFailure) -> MediaFrame {
    let original = try unsafe input.stream(stream.index)
    let geometry = try unsafe PictureGeometry(stream, original, FilmChanges(), coding, scale: scale)
    let colours = unsafe PictureColours(
      original.pointee.codecpar.pointee, keepsFullRange: coding.pixelFormat != "yuv420p")
    let chain = geometry.chain(colours, coding.pixelFormat).joined(separator: ",")
    return try filtered(picture, chain)
  }

  static func filtered(_ picture: MediaFrame, _ chain: String) throws(JobFailure) -> MediaFrame {
    let made = try MediaFrame()
    unsafe picture.pointer.pointee.pts = 0
    let graph = try FilterGraph("", from: FilterGraph.entry(of: picture, AVRational(num: 1, den: 25)), chain)
    let copy = try MediaFrame()
    try unsafe checked(av_frame_ref(copy.pointer, picture.pointer), "cannot be changed this way")
    func take(_ frame: MediaFrame) { unsafe av_frame_move_ref(made.pointer, frame.pointer) }
    try graph.filter(copy, take)
    try graph.filter(nil, take)
    guard unsafe made.pointer.pointee.width > 0 else {
      throw JobFailure(.damaged, "has a picture that cannot be shown")
    }
    return made
  }

  /// Writes a picture as a file. `quality` is from 1 to 100.
  static func write(
    _ picture: MediaFrame, _ coding: PictureCoding, quality: Int, to output: JobOutput
  ) throws(JobFailure) {
    let encoder = try MediaEncoder(coding.encoder, hasGlobalHeader: false)
    let context = unsafe encoder.context
    unsafe context.pointee.width = unsafe picture.pointer.pointee.width
    unsafe context.pointee.height = unsafe picture.pointer.pointee.height
    unsafe context.pointee.pix_fmt = av_get_pix_fmt(coding.pixelFormat)
    unsafe context.pointee.time_base = AVRational(num: 1, den: 25)
    unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
    if coding.encoder == "mjpeg" {
      unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE
      // The scale is from 31, the worst, to 1.
      unsafe context.pointee.global_quality = FF_QP2LAMBDA * Int32(max(1, min(31, 1 + (100 - quality) * 3 / 17)))
    }
    try encoder.open()
    unsafe picture.pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
    unsafe picture.pointer.pointee.quality = unsafe context.pointee.global_quality
    try encoder.encode(only: picture, to: output)
  }
}
