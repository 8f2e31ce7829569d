internal import CFFmpeg
internal import Catalogue

/// What a container of film takes, and what is made of the rest.
struct FilmContainer: Sendable {
  /// FFmpeg's name of the muxer.
  let muxer: String
  /// Copied as they are; nil: all that the muxer knows.
  var pictures: Set<CodecNumber>?
  var pictureCodings: [PictureCoding]
  var sounds: Set<CodecNumber>?
  var soundCoding: SoundCoding
  /// FFmpeg's name of the encoder of text beside the picture; nil where there is no place for it.
  var textEncoder: String?
  /// Kinds of subtitles that are copied.
  var texts: Set<CodecNumber> = []
  /// At most so many tracks of sound, or none but one kind.
  var mostSounds = 64
  var options: [String: String] = [:]
  /// For what is read while it is coded; nil where that cannot be.
  var streamedOptions: [String: String]?
  /// Whether what is read while it is coded is in fragments.
  var isFragmented: Bool { streamedOptions?["frag_size"] != nil }
  /// Whether the head of what is read while it is coded has room for the index and the length, which are written last.
  var reservesIndex = false
  /// Whether a copy has a place for how the picture is to be turned.
  var keepsRotation = false
  var takesAttachments = false
  var takesCovers = false
  /// Whether a film without sound is none.
  var needsSound = false
  /// Whether the index of what was written stands before it.
  var hasIndexFirst = false
  /// Bits by which a codec of another container has to be written, by codec.
  var bitFilters: [CodecNumber: String] = [:]

  /// How pictures are coded if no word names a codec.
  var usualPictures: PictureCoding { pictureCodings[0] }

  func coding(_ codec: FilmChanges.Codec?) -> PictureCoding? {
    guard let codec else { return usualPictures }
    let wanted = codec.coding
    return pictureCodings.first { $0.encoder == wanted.encoder }
  }
}

/// An `AVCodecID`, which is no set's member.
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
