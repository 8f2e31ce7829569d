internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The treatment of each stream of a video in another container.
struct FilmPlan {
  enum Way: Equatable {
    case copied
    case coded
    /// A cover that is attached as a file.
    case attached
  }

  let container: FilmContainer
  let changes: FilmChanges
  /// The streams that are kept, pictures first.
  private(set) var tracks: [(stream: MediaStream, way: Way)] = []
  private(set) var remarks: [String] = []
  /// The encoding of pictures that are not copied.
  let coding: PictureCoding

  /// Whether neither pictures nor audio are encoded.
  var copiesAll: Bool { !tracks.contains { $0.way == .coded && $0.stream.kind != .subtitle } }

  /// FFmpeg's names of containers whose packets cannot be copied into others.
  private static let neverCopied: Set = ["rm", "swf"]

  /// Plans a conversion. `copies` permits copying streams.
  init(
    _ input: MediaInput, _ container: FilmContainer, _ changes: FilmChanges, copies: Bool = true
  ) throws(JobFailure) {
    self.container = container
    self.changes = changes
    guard let coding = container.coding(changes.codec) else {
      throw JobFailure(
        .unsupported, "cannot be a \(container.muxer) with pictures in \(changes.codec?.rawValue ?? "that form")")
    }
    self.coding = coding
    guard let muxer = unsafe av_guess_format(container.muxer, nil, nil) else {
      throw JobFailure(.unsupported, "cannot be written as \(container.muxer) by the installed FFmpeg")
    }
    let copies = copies && !Self.neverCopied.contains(input.formatName) && !input.changesHeaders
    // FFmpeg does not know the supported codecs of some muxers.
    func takes(_ codec: AVCodecID, _ named: Set<CodecNumber>?) -> Bool {
      // In Matroska, FFmpeg reads TTA without its last packet.
      if codec == AV_CODEC_ID_TTA, container.muxer == "matroska" { return false }
      let known = unsafe avformat_query_codec(muxer, codec, FF_COMPLIANCE_NORMAL)
      return copies && (named.map { $0.contains(codec.rawValue) && known != 0 } ?? (known == 1))
    }
    if let length = input.duration, let start = changes.span?.start.seconds, start >= length {
      throw JobFailure(.absent, "is not as long as that")
    }
    try addPictures(input) { takes($0, container.pictures) }
    try addSounds(input) { takes($0, container.sounds) }
    addOthers(input)
    if !tracks.contains(where: { $0.stream.kind == .film || $0.stream.kind == .sound }) {
      throw JobFailure(.unsupported, "has neither pictures nor sound that fit into that container")
    }
    if container.needsSound, !["film", "sound"].allSatisfy({ kind in tracks.contains { "\($0.stream.kind)" == kind } })
    {
      throw JobFailure(.unsupported, "lacks the pictures or the sound that such a file requires")
    }
  }

  private mutating func addPictures(_ input: MediaInput, _ takes: (AVCodecID) -> Bool) throws(JobFailure) {
    var pictures = input.streams.filter { $0.kind == .film && $0.codec != AV_CODEC_ID_NONE }
    // The stream that players choose goes first.
    if let usual = pictures.firstIndex(where: \.isDefault) { pictures.swapAt(0, usual) }
    for stream in pictures {
      let original = try unsafe input.stream(stream.index)
      let fits = takes(stream.codec)
      let isWanted = changes.codec.map { $0.number == stream.codec } ?? true
      let isUpright = unsafe container.keepsRotation || PictureGeometry.rotation(of: original) == 0
      if fits, isWanted, isUpright, !changes.changePictures, tracks.isEmpty || container.pictures == nil {
        tracks.append((stream, .copied))
      } else if tracks.isEmpty {
        tracks.append((stream, .coded))
        if !changes.changePictures { remarks.append("its picture is coded again, from \(stream.codecName)") }
      } else {
        remarks.append("a further picture (\(stream.codecName)) is left out")
      }
    }
  }

  private mutating func addSounds(_ input: MediaInput, _ takes: (AVCodecID) -> Bool) throws(JobFailure) {
    if changes.isMute { return }
    var sounds = input.streams.filter { $0.kind == .sound && $0.rate > 0 && $0.channels > 0 }
    if changes.track != nil { sounds = [try SoundChoice.stream(of: input, track: changes.track)] }
    if sounds.count > container.mostSounds {
      sounds = [try SoundChoice.stream(of: input, track: nil)]
      remarks.append("all sounds but one are left out")
    }
    for stream in sounds {
      let fits = takes(stream.codec)
      let isCopied = fits && changes.span == nil && changes.speed == nil
      tracks.append((stream, isCopied ? .copied : .coded))
      if !fits { remarks.append("sound is coded again, from \(stream.codecName)") }
    }
  }

  private mutating func addOthers(_ input: MediaInput) {
    let isWhole = changes.span == nil && changes.speed == nil
    for stream in input.streams {
      switch stream.kind {
      case .film, .sound: continue
      case .subtitle where isWhole && container.texts.contains(stream.codec.rawValue):
        tracks.append((stream, .copied))
        continue
      case .subtitle where container.textEncoder != nil && stream.isText:
        tracks.append((stream, .coded))
        continue
      case .attachment
      where container.takesAttachments && stream.tags["filename"] != nil && stream.tags["mimetype"] != nil:
        tracks.append((stream, .copied))
        continue
      case .cover where container.takesCovers && (stream.codec == AV_CODEC_ID_MJPEG || stream.codec == AV_CODEC_ID_PNG):
        tracks.append((stream, .copied))
        continue
      case .cover where container.takesAttachments:
        tracks.append((stream, .attached))
        continue
      case .subtitle, .attachment, .cover, .data: break
      }
      // The chapters contain the chapter titles as well.
      if stream.kind == .data, stream.codecName == "bin_data" { continue }
      let name = stream.tags["filename"] ?? stream.codecName
      remarks.append("\(stream.kind.word) (\(name)) is left out")
    }
  }

  /// Returns the end of a sentence that begins with the file's name.
  func remark(_ more: [String]) -> String {
    let all = remarks + more
    return all.isEmpty ? "" : "is made with changes: " + all.joined(separator: "; ")
  }
}

extension MediaStream {
  /// Whether subtitles are text, not images.
  var isText: Bool {
    unsafe avcodec_descriptor_get(codec).map { unsafe $0.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0 } ?? false
  }
}

extension FilmChanges.Codec {
  fileprivate var number: AVCodecID {
    switch self {
    case .h264: AV_CODEC_ID_H264
    case .hevc: AV_CODEC_ID_HEVC
    case .av1: AV_CODEC_ID_AV1
    case .vp9: AV_CODEC_ID_VP9
    case .vp8: AV_CODEC_ID_VP8
    }
  }
}
