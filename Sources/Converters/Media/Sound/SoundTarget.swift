internal import CFFmpeg

/// The parameters of an audio file format: its container, its codec, and the codecs that are copied.
struct SoundTarget {
  /// FFmpeg's name of the container.
  let muxer: String
  /// FFmpeg's names of encoders, best first.
  let encoders: [String]
  /// The codecs whose packets are copied.
  let copies: Set<AVCodecID.RawValue>
  /// The default bit rate of each channel, in kbit/s. 0 for encoders that are lossless or use a quality.
  var usualRate = 0
  /// Whether the muxer writes sequentially, without seeking back.
  var isStreamed = false
  var mostChannels = 8
  /// The supported sample rates, if the encoder does not list them.
  var rates: [Int] = []
  var options: [String: String] = [:]
  /// Whether it keeps every bit of the samples.
  var isLossless = false
  /// The maximum number of bits per sample of a lossless encoder.
  var mostBits = 32
  /// Returns the encoder's quality for `v0` to `v9`. `nil` if it has none.
  var quality: (@Sendable (Int) -> Double)?
  /// Whether the bit rate is constant unless a quality is requested. The size is then known in advance.
  var isConstant = false
  /// The storage of an album cover.
  var cover = Cover.nowhere

  enum Cover {
    case nowhere, stream, comment
  }

  /// Returns the target of a conversion's verb. Returns `nil` if the verb has none, or if its files are written without
  /// an encoder.
  static func named(_ verb: String) -> SoundTarget? { all[verb] }

  private static let all: [String: SoundTarget] = [
    "mp3": SoundTarget(
      muxer: "mp3", encoders: ["libmp3lame"], copies: ids(AV_CODEC_ID_MP3), usualRate: 96, mostChannels: 2,
      quality: { Double($0) }, isConstant: true, cover: .stream),
    "m4a": SoundTarget(
      muxer: "ipod", encoders: ["aac"], copies: ids(AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC), usualRate: 80, cover: .stream),
    "aac": SoundTarget(
      muxer: "adts", encoders: ["aac"], copies: ids(AV_CODEC_ID_AAC), usualRate: 80, isStreamed: true),
    "ogg": SoundTarget(
      muxer: "ogg", encoders: ["libvorbis"], copies: ids(AV_CODEC_ID_VORBIS), isStreamed: true,
      quality: { Double(10 - $0) }, cover: .comment),
    "oga": SoundTarget(
      muxer: "oga", encoders: ["libopus"],
      copies: ids(AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS, AV_CODEC_ID_FLAC, AV_CODEC_ID_SPEEX), usualRate: 64,
      isStreamed: true, rates: [48000], options: opus, isConstant: true, cover: .comment),
    "opus": SoundTarget(
      muxer: "opus", encoders: ["libopus"], copies: ids(AV_CODEC_ID_OPUS), usualRate: 64, isStreamed: true,
      rates: [48000], options: opus, isConstant: true, cover: .comment),
    "spx": SoundTarget(
      muxer: "spx", encoders: ["libspeex"], copies: ids(AV_CODEC_ID_SPEEX), isStreamed: true, mostChannels: 2),
    "flac": SoundTarget(
      muxer: "flac", encoders: ["flac"], copies: ids(AV_CODEC_ID_FLAC), isLossless: true, mostBits: 24,
      cover: .stream),
    "wv": SoundTarget(muxer: "wv", encoders: ["wavpack"], copies: ids(AV_CODEC_ID_WAVPACK), isLossless: true),
    "ac3": SoundTarget(
      muxer: "ac3", encoders: ["ac3"], copies: ids(AV_CODEC_ID_AC3), usualRate: 96, isStreamed: true, mostChannels: 6),
    "dts": SoundTarget(
      muxer: "dts", encoders: ["dca"], copies: ids(AV_CODEC_ID_DTS), usualRate: 384, isStreamed: true, mostChannels: 6),
    "mp2": SoundTarget(
      muxer: "mp2", encoders: ["libtwolame", "mp2"], copies: ids(AV_CODEC_ID_MP2), usualRate: 128, isStreamed: true,
      mostChannels: 2),
    "wma": SoundTarget(
      muxer: "asf", encoders: ["wmav2"], copies: ids(AV_CODEC_ID_WMAV1, AV_CODEC_ID_WMAV2, AV_CODEC_ID_WMAPRO),
      usualRate: 80, mostChannels: 2, rates: [48000, 44100, 32000, 22050, 16000, 11025, 8000]),
    "gsm": SoundTarget(
      muxer: "gsm", encoders: ["libgsm"], copies: ids(AV_CODEC_ID_GSM), isStreamed: true, mostChannels: 1,
      rates: [8000]),
    // Audio that is not copied is encoded by `SpeechFile`.
    "amr": SoundTarget(muxer: "amr", encoders: [], copies: ids(AV_CODEC_ID_AMR_NB), isStreamed: true),
    "awb": SoundTarget(muxer: "amr", encoders: [], copies: ids(AV_CODEC_ID_AMR_WB), isStreamed: true),
    "voc": SoundTarget(
      muxer: "voc", encoders: ["pcm_s16le"], copies: ids(AV_CODEC_ID_PCM_S16LE), mostChannels: 2),
    "ircam": SoundTarget(muxer: "ircam", encoders: ["pcm_s16le"], copies: ids(AV_CODEC_ID_PCM_S16LE)),
    "mka": SoundTarget(
      muxer: "matroska", encoders: ["libopus"], copies: anyCopy, usualRate: 64, rates: [48000], options: opus,
      cover: .stream),
  ]

  /// The option for a constant bit rate, so that a file's size is known in advance.
  private static let opus = ["vbr": "off"]

  /// Not TTA: in Matroska, FFmpeg reads it without its last packet.
  private static let anyCopy = ids(
    AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_DTS,
    AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_WAVPACK,
    AV_CODEC_ID_TRUEHD, AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_S24LE, AV_CODEC_ID_PCM_S32LE, AV_CODEC_ID_PCM_F32LE)

  private static func ids(_ codecs: AVCodecID...) -> Set<AVCodecID.RawValue> { Set(codecs.map(\.rawValue)) }
}
