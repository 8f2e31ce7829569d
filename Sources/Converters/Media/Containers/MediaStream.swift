internal import CFFmpeg

/// The description of a stream in its container.
struct MediaStream {
  enum Kind {
    case sound, film, subtitle, attachment, data
    /// A picture that belongs to the whole file, such as an album cover.
    case cover
  }

  let index: Int
  let kind: Kind
  let codec: AVCodecID
  /// FFmpeg's name of the codec.
  let codecName: String
  let timeBase: AVRational
  /// The start and duration, in units of the time base. `nil` if the container does not record them.
  let start: Int64?
  let duration: Int64?
  let isDefault: Bool
  let tags: MediaTags
  /// The sample rate, in samples per second. 0 if the stream is not audio.
  let rate: Int
  let channels: Int
  /// The bit rate, in bits per second. 0 if unknown.
  let bitRate: Int64
  /// The size of pictures, in pixels.
  let width: Int
  let height: Int

  init(_ stream: UnsafeMutablePointer<AVStream>) {
    let parameters = unsafe stream.pointee.codecpar.pointee
    index = Int(unsafe stream.pointee.index)
    unsafe codec = parameters.codec_id
    codecName = unsafe String(cString: avcodec_get_name(parameters.codec_id))
    timeBase = unsafe stream.pointee.time_base
    start = unsafe Self.time(stream.pointee.start_time)
    duration = unsafe Self.time(stream.pointee.duration)
    isDefault = unsafe stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0
    tags = unsafe MediaTags(stream.pointee.metadata)
    rate = Int(unsafe parameters.sample_rate)
    channels = Int(unsafe parameters.ch_layout.nb_channels)
    bitRate = unsafe parameters.bit_rate
    width = Int(unsafe parameters.width)
    height = Int(unsafe parameters.height)
    switch unsafe parameters.codec_type {
    case AVMEDIA_TYPE_AUDIO: kind = .sound
    case AVMEDIA_TYPE_VIDEO:
      kind = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 ? .cover : .film
    case AVMEDIA_TYPE_SUBTITLE: kind = .subtitle
    case AVMEDIA_TYPE_ATTACHMENT: kind = .attachment
    default: kind = .data
    }
  }

  private static func time(_ value: Int64) -> Int64? { value == ffmedia_no_time ? nil : value }
}

extension MediaStream.Kind {
  /// The kind as a sentence names it.
  var word: String {
    switch self {
    case .sound: "sound"
    case .film: "a picture"
    case .subtitle: "a subtitle"
    case .attachment: "an attached file"
    case .data: "data"
    case .cover: "a cover"
    }
  }
}
