internal import Bytes
internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// A handler that lists the tracks of a video and copies each to a file.
public struct TracksHandler: JobHandler {
  public static let verbs = [Conversion.tracks.verb] + FilmTrack.formats.map { Conversion.trackVerb($0) }

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let input = try MediaInput(order.input())
    if recipe.verb == Conversion.tracks.verb {
      let text = FilmTrack.text(input.streams.compactMap(Self.track))
      try unsafe output.write(Array(text.utf8).span.bytes)
      return ""
    }
    guard let selection = recipe.arguments.flatMap({ PageSelection($0[...]) }), let number = selection.runs.first?.first
    else { throw .unknown }
    guard number <= input.streams.count, let track = Self.track(input.streams[number - 1]),
      Conversion.trackVerb(track.format) == recipe.verb
    else { throw JobFailure(.absent, "has no such track") }
    try write(input.streams[number - 1], of: input, as: track.format, to: output)
    return input.shortfall
  }

  // MARK: Tracks

  private static let pictures: [UInt32: Format] = [
    AV_CODEC_ID_H264.rawValue: .mp4, AV_CODEC_ID_HEVC.rawValue: .mp4, AV_CODEC_ID_AV1.rawValue: .mp4,
    AV_CODEC_ID_VP9.rawValue: .mp4, AV_CODEC_ID_MPEG4.rawValue: .mp4,
  ]
  private static let sounds: [UInt32: Format] = [
    AV_CODEC_ID_AAC.rawValue: .m4a, AV_CODEC_ID_ALAC.rawValue: .m4a, AV_CODEC_ID_MP3.rawValue: .mp3,
    AV_CODEC_ID_FLAC.rawValue: .flac, AV_CODEC_ID_OPUS.rawValue: .opus, AV_CODEC_ID_VORBIS.rawValue: .ogg,
    AV_CODEC_ID_AC3.rawValue: .ac3, AV_CODEC_ID_EAC3.rawValue: .eac3, AV_CODEC_ID_DTS.rawValue: .dts,
    AV_CODEC_ID_MP2.rawValue: .mp2, AV_CODEC_ID_PCM_S16LE.rawValue: .wav, AV_CODEC_ID_PCM_S24LE.rawValue: .wav,
    AV_CODEC_ID_PCM_F32LE.rawValue: .wav, AV_CODEC_ID_PCM_U8.rawValue: .wav,
  ]
  private static let texts: [UInt32: Format] = [
    AV_CODEC_ID_ASS.rawValue: .ass, AV_CODEC_ID_WEBVTT.rawValue: .vtt,
  ]
  private static let muxers = ["m4a": "ipod", "mkv": "matroska", "mka": "matroska", "vtt": "webvtt"]

  /// Returns the file of a stream, such as `01 video h264.mp4` or `02 audio eng aac.m4a`. Returns `nil` if the stream
  /// cannot be a separate file.
  private static func track(_ stream: MediaStream) -> FilmTrack? {
    let number = stream.index + 1
    let digits = number < 10 ? "0\(number)" : "\(number)"
    func named(_ kind: String, _ format: Format) -> FilmTrack {
      let language = stream.tags["language"].flatMap { $0 == "und" ? nil : $0 }
      let words = [digits, kind, language, stream.codecName].compactMap(\.self)
      return FilmTrack(number: number, format: format, name: words.joined(separator: " ") + ending(of: format))
    }
    switch stream.kind {
    case .film: return stream.codec == AV_CODEC_ID_NONE ? nil : named("video", pictures[stream.codec.rawValue] ?? .mkv)
    case .sound: return stream.codec == AV_CODEC_ID_NONE ? nil : named("audio", sounds[stream.codec.rawValue] ?? .mka)
    case .subtitle: return named("subtitle", stream.isText ? texts[stream.codec.rawValue] ?? .srt : .mkv)
    case .cover:
      switch stream.codec {
      case AV_CODEC_ID_MJPEG: return FilmTrack(number: number, format: .jpeg, name: "cover.jpg")
      case AV_CODEC_ID_PNG: return FilmTrack(number: number, format: .png, name: "cover.png")
      default: return nil
      }
    case .attachment:
      let name = (stream.tags["filename"] ?? "").filter { $0 != "\t" && !$0.isNewline }
      return FilmTrack(number: number, format: .attachment, name: name.isEmpty ? "\(digits) attachment" : name)
    case .data: return nil
    }
  }

  private static func ending(of format: Format) -> String { ".\(format.extensions.first?.text ?? format.name)" }

  // MARK: Files

  private func write(
    _ stream: MediaStream, of input: MediaInput, as format: Format, to output: JobOutput
  ) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    if stream.kind == .cover {
      return try unsafe write(original.pointee.attached_pic.data, original.pointee.attached_pic.size, to: output)
    }
    if stream.kind == .attachment {
      let parameters = unsafe original.pointee.codecpar.pointee
      return try unsafe write(parameters.extradata, parameters.extradata_size, to: output)
    }
    let muxer = Self.muxers[format.name] ?? format.name
    let made = try MediaOutput(muxer, to: output, isStreamed: false)
    let container = FilmContainer(muxer: muxer, pictureCodings: [.h264], soundCoding: .aac)
    let isCopied =
      stream.kind != .subtitle || [.ass, .vtt, .mkv].contains(format) || stream.codec == AV_CODEC_ID_SUBRIP
    let track: any MadeTrack =
      isCopied
      ? try CopiedTrack(stream, of: input, container)
      : try CodedText(stream, of: input, "subrip", FilmWindow(of: input))
    try track.declare(in: made)
    made.set(MediaTags())
    try made.start()
    let packet = try MediaPacket()
    input.use(only: [stream.index])
    while try input.read(into: packet) {
      if packet.stream == stream.index { try track.take(packet, made) }
    }
    try made.finish()
  }

  private func write(
    _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32, to output: JobOutput
  ) throws(JobFailure) {
    try unsafe output.write(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(max(0, count))).bytes)
  }
}
