internal import CFFmpeg
internal import Catalogue

extension FilmContainer {
  /// The containers by the name of their format.
  static let all: [String: FilmContainer] = [
    "mp4": mp4, "m4v": m4v, "mov": mov, "3gp": telephone("3gp"), "3g2": telephone("3g2"), "f4v": f4v, "mkv": mkv,
    "webm": webm, "avi": avi, "amv": amv, "flv": flv, "wmv": windows, "asf": windows, "mpeg": mpeg, "vob": vob,
    "ts": transport([:]), "m2ts": transport(["mpegts_m2ts_mode": "1"]), "rm": realMedia, "swf": flash, "mxf": mxf,
    "ogv": ogv,
  ]

  /// Options for fragments of a second or more that start at key frames. The header is written with the first fragment.
  /// The maximum size of a fragment is 32 MiB, since it is held in memory.
  private static let fragments = [
    "movflags": "delay_moov+default_base_moof+frag_keyframe+skip_trailer", "min_frag_duration": "1000000",
    "frag_size": "33554432",
  ]

  /// Options for Matroska clusters of a second. A reader never waits longer for the next bytes.
  private static let clusters = ["cluster_time_limit": "1000", "cluster_size_limit": "1048576"]

  /// MP4 as browsers play it.
  static let mp4 = FilmContainer(
    muxer: "mp4", pictures: Set(codecs: AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_AV1, AV_CODEC_ID_VP9),
    pictureCodings: [.h264, .hevc, .av1, .vp9],
    sounds: Set(codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC), soundCoding: .aac,
    textEncoder: "mov_text", texts: Set(codecs: AV_CODEC_ID_MOV_TEXT), streamedOptions: fragments,
    keepsRotation: true, takesCovers: true, hasIndexFirst: true)

  static let m4v = FilmContainer(
    muxer: "ipod", pictures: Set(codecs: AV_CODEC_ID_H264, AV_CODEC_ID_MPEG4), pictureCodings: [.h264],
    sounds: Set(codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_AC3, AV_CODEC_ID_ALAC), soundCoding: .aac,
    textEncoder: "mov_text", texts: Set(codecs: AV_CODEC_ID_MOV_TEXT), streamedOptions: fragments,
    keepsRotation: true, takesCovers: true, hasIndexFirst: true)

  static let mov = FilmContainer(
    muxer: "mov",
    pictures: Set(
      codecs: AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG4, AV_CODEC_ID_MJPEG, AV_CODEC_ID_PRORES,
      AV_CODEC_ID_DNXHD, AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_QTRLE, AV_CODEC_ID_PNG),
    pictureCodings: [.h264, .hevc],
    sounds: Set(
      codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_MP3, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3,
      AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_S16BE, AV_CODEC_ID_PCM_S24LE, AV_CODEC_ID_PCM_S24BE,
      AV_CODEC_ID_PCM_S32LE, AV_CODEC_ID_PCM_F32LE, AV_CODEC_ID_PCM_ALAW, AV_CODEC_ID_PCM_MULAW), soundCoding: .aac,
    textEncoder: "mov_text",
    texts: Set(codecs: AV_CODEC_ID_MOV_TEXT), streamedOptions: fragments, keepsRotation: true, hasIndexFirst: true)

  private static func telephone(_ muxer: String) -> FilmContainer {
    FilmContainer(
      muxer: muxer, pictures: Set(codecs: AV_CODEC_ID_H264, AV_CODEC_ID_H263, AV_CODEC_ID_MPEG4),
      pictureCodings: [.plainH264],
      sounds: Set(codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_AMR_NB, AV_CODEC_ID_AMR_WB), soundCoding: .aac,
      textEncoder: "mov_text", texts: Set(codecs: AV_CODEC_ID_MOV_TEXT), keepsRotation: true, hasIndexFirst: true)
  }

  static let f4v = FilmContainer(
    muxer: "f4v", pictures: Set(codecs: AV_CODEC_ID_H264), pictureCodings: [.h264],
    sounds: Set(codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_MP3), soundCoding: .aac, mostSounds: 1,
    streamedOptions: fragments, keepsRotation: true, hasIndexFirst: true)

  static let mkv = FilmContainer(
    muxer: "matroska", pictureCodings: [.h264, .hevc, .av1, .vp9, .vp8], soundCoding: .aac, textEncoder: "subrip",
    texts: Set(
      codecs: AV_CODEC_ID_SUBRIP, AV_CODEC_ID_ASS, AV_CODEC_ID_WEBVTT, AV_CODEC_ID_DVD_SUBTITLE,
      AV_CODEC_ID_HDMV_PGS_SUBTITLE, AV_CODEC_ID_DVB_SUBTITLE),
    streamedOptions: clusters, reservesIndex: true, takesAttachments: true,
    bitFilters: [AV_CODEC_ID_MPEG4.rawValue: "mpeg4_unpack_bframes"])

  static let webm = FilmContainer(
    muxer: "webm", pictures: Set(codecs: AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_AV1),
    pictureCodings: [.vp9, .vp8, .av1], sounds: Set(codecs: AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS), soundCoding: .opus,
    textEncoder: "webvtt", texts: Set(codecs: AV_CODEC_ID_WEBVTT), streamedOptions: clusters,
    reservesIndex: true)

  static let avi = FilmContainer(
    muxer: "avi",
    pictures: Set(
      codecs: AV_CODEC_ID_MPEG4, AV_CODEC_ID_MSMPEG4V2, AV_CODEC_ID_MSMPEG4V3, AV_CODEC_ID_MJPEG, AV_CODEC_ID_HUFFYUV,
      AV_CODEC_ID_FFV1, AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO),
    pictureCodings: [.mpeg4],
    sounds: Set(codecs: AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_AC3, AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_WMAV2),
    soundCoding: .mp3)

  static let amv = FilmContainer(
    muxer: "amv", pictures: [], pictureCodings: [.amv], sounds: [], soundCoding: .amv, mostSounds: 1, needsSound: true)

  static let flv = FilmContainer(
    muxer: "flv", pictures: Set(codecs: AV_CODEC_ID_H264, AV_CODEC_ID_FLV1, AV_CODEC_ID_VP6F),
    pictureCodings: [.h264], sounds: Set(codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_MP3), soundCoding: .aac, mostSounds: 1,
    streamedOptions: ["flvflags": "no_duration_filesize"])

  static let windows = FilmContainer(
    muxer: "asf",
    pictures: Set(
      codecs: AV_CODEC_ID_WMV1, AV_CODEC_ID_WMV2, AV_CODEC_ID_WMV3, AV_CODEC_ID_VC1, AV_CODEC_ID_MSMPEG4V3),
    pictureCodings: [.wmv],
    sounds: Set(codecs: AV_CODEC_ID_WMAV1, AV_CODEC_ID_WMAV2, AV_CODEC_ID_WMAPRO, AV_CODEC_ID_WMALOSSLESS),
    soundCoding: .wma)

  private static let discPictures = Set(codecs: AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO)

  static let mpeg = FilmContainer(
    muxer: "vob", pictures: discPictures, pictureCodings: [.mpeg2], sounds: Set(codecs: AV_CODEC_ID_MP2),
    soundCoding: .mp2, streamedOptions: [:])

  static let vob = FilmContainer(
    muxer: "vob", pictures: discPictures, pictureCodings: [.mpeg2],
    sounds: Set(codecs: AV_CODEC_ID_MP2, AV_CODEC_ID_AC3, AV_CODEC_ID_DTS), soundCoding: .ac3,
    texts: Set(codecs: AV_CODEC_ID_DVD_SUBTITLE), streamedOptions: [:])

  static func transport(_ options: [String: String]) -> FilmContainer {
    FilmContainer(
      muxer: "mpegts",
      pictures: Set(
        codecs: AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG4),
      pictureCodings: [.h264, .hevc],
      sounds: Set(
        codecs: AV_CODEC_ID_AAC, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3, AV_CODEC_ID_DTS,
        AV_CODEC_ID_TRUEHD), soundCoding: .aac,
      texts: Set(codecs: AV_CODEC_ID_DVB_SUBTITLE, AV_CODEC_ID_HDMV_PGS_SUBTITLE), options: options,
      streamedOptions: [:])
  }

  static let realMedia = FilmContainer(
    muxer: "rm", pictures: Set(codecs: AV_CODEC_ID_RV10, AV_CODEC_ID_RV20), pictureCodings: [.realVideo],
    sounds: Set(codecs: AV_CODEC_ID_AC3), soundCoding: .plainAC3, mostSounds: 1)

  static let flash = FilmContainer(
    muxer: "swf", pictures: Set(codecs: AV_CODEC_ID_FLV1), pictureCodings: [.flv], sounds: [],
    soundCoding: .flashMP3, mostSounds: 1)

  static let mxf = FilmContainer(
    muxer: "mxf", pictures: Set(codecs: AV_CODEC_ID_MPEG2VIDEO), pictureCodings: [.mpeg2], sounds: [],
    soundCoding: .tape)

  /// The formats of animated images, by verb.
  static let loops: [String: FilmContainer] = [
    "loop-gif": FilmContainer(
      muxer: "gif", pictures: [], pictureCodings: [.gif], sounds: [], soundCoding: .aac, options: ["loop": "0"]),
    "loop-webp": FilmContainer(
      muxer: "webp", pictures: [], pictureCodings: [.webp], sounds: [], soundCoding: .aac, options: ["loop": "0"]),
  ]

  static let ogv = FilmContainer(
    muxer: "ogg", pictures: Set(codecs: AV_CODEC_ID_THEORA), pictureCodings: [.theora],
    sounds: Set(codecs: AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC), soundCoding: .vorbis,
    streamedOptions: [:])
}
