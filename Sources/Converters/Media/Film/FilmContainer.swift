internal import CFFmpeg
internal import Catalogue

/// The codecs that a video container can store, and the encoding of all other streams.
struct FilmContainer: Sendable {
  /// FFmpeg's name of the muxer.
  let muxer: String
  /// The picture codecs that are copied. `nil` for all that the muxer supports.
  var pictures: Set<CodecNumber>?
  var pictureCodings: [PictureCoding]
  var sounds: Set<CodecNumber>?
  var soundCoding: SoundCoding
  /// FFmpeg's name of the encoder of text subtitles. `nil` if the container cannot store them.
  var textEncoder: String?
  /// The subtitle codecs that are copied.
  var texts: Set<CodecNumber> = []
  /// The maximum number of audio tracks. If a video has more, one is kept.
  var mostSounds = 64
  var options: [String: String] = [:]
  /// The options for output that is read during the conversion. `nil` if that is not supported.
  var streamedOptions: [String: String]?
  /// Whether output that is read during the conversion is fragmented.
  var isFragmented: Bool { streamedOptions?["frag_size"] != nil }
  /// Whether output that is read during the conversion starts with reserved space for the index and the length, which
  /// are written last.
  var reservesIndex = false
  /// Whether a copy records the rotation of its pictures.
  var keepsRotation = false
  var takesAttachments = false
  var takesCovers = false
  /// Whether a file must have sound.
  var needsSound = false
  /// Whether the index of a complete file precedes its packets.
  var hasIndexFirst = false
  /// The bitstream filters that adapt packets from other containers, by codec.
  var bitFilters: [CodecNumber: String] = [:]

  /// The encoding of pictures if the recipe does not name a codec.
  var usualPictures: PictureCoding { pictureCodings[0] }

  func coding(_ codec: FilmChanges.Codec?) -> PictureCoding? {
    guard let codec else { return usualPictures }
    let wanted = codec.coding
    return pictureCodings.first { $0.encoder == wanted.encoder }
  }
}

/// The raw value of an `AVCodecID`, which itself cannot be in a set.
typealias CodecNumber = UInt32

extension FilmChanges.Codec {
  var coding: PictureCoding {
    switch self {
    case .h264: .h264
    case .hevc: .hevc
    case .av1: .av1
    case .vp9: .vp9
    case .vp8: .vp8
    }
  }
}

extension Set<CodecNumber> {
  init(codecs: AVCodecID...) { self = Set(codecs.map(\.rawValue)) }
}
