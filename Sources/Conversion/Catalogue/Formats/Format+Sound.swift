internal import Bytes

/// Formats of sound, in the order in which they are recognized.
extension Format {
  public static let flac = Format(
    "flac", extensions: ["flac"], mimeType: "audio/flac", otherMimeTypes: ["audio/x-flac"], family: .sound,
    head: Array("fLaC".utf8))
  public static let wav = Format(
    "wav", extensions: ["wav", "wave", "bwf"], mimeType: "audio/x-wav",
    otherMimeTypes: ["audio/wav", "audio/vnd.wave"],
    family: .sound, head: Array("RIFF\0\0\0\0WAVE".utf8)
  ) { ($0.has("RIFF", at: 0) || $0.has("RF64", at: 0)) && $0.has("WAVE", at: 8) }
  public static let w64 = Format(
    "w64", extensions: ["w64"], mimeType: "audio/x-w64", family: .sound,
    head: Array("riff".utf8) + [0x2e, 0x91, 0xcf, 0x11])
  public static let aiff = Format(
    "aiff", otherNames: ["aif"], extensions: ["aiff", "aif", "aifc"], mimeType: "audio/x-aiff",
    otherMimeTypes: ["audio/aiff", "audio/x-aifc"], family: .sound, head: Array("FORM\0\0\0\0AIFF".utf8)
  ) { $0.has("FORM", at: 0) && ($0.has("AIFF", at: 8) || $0.has("AIFC", at: 8)) }
  /// The format of Sun and NeXT.
  public static let au = Format(
    "au", otherNames: ["snd"], extensions: ["au", "snd"], mimeType: "audio/basic", family: .sound,
    head: Array(".snd".utf8))
  public static let caf = Format(
    "caf", extensions: ["caf"], mimeType: "audio/x-caf", family: .sound, head: Array("caff".utf8))
  public static let m4a = Format(
    "m4a", extensions: ["m4a", "m4b", "m4r"], mimeType: "audio/mp4", otherMimeTypes: ["audio/x-m4a", "audio/x-m4b"],
    family: .sound, head: Array("\0\0\0\u{1c}ftypM4A ".utf8)
  ) { $0.has("ftypM4A", at: 4) || $0.has("ftypM4B", at: 4) }
  public static let opus = Format(
    "opus", extensions: ["opus"], mimeType: "audio/ogg", otherMimeTypes: ["audio/x-opus+ogg", "audio/opus"],
    family: .sound
  ) { $0.isOgg && $0.has("OpusHead", at: 28) }
  public static let speex = Format(
    "spx", otherNames: ["speex"], extensions: ["spx"], mimeType: "audio/x-speex+ogg",
    otherMimeTypes: ["audio/x-speex"], family: .sound
  ) { $0.isOgg && $0.has("Speex", at: 28) }
  /// Ogg that contains Vorbis.
  public static let ogg = Format(
    "ogg", extensions: ["ogg"], mimeType: "audio/x-vorbis+ogg", otherMimeTypes: ["audio/x-vorbis"], family: .sound
  ) { $0.isOgg && $0.has("\u{1}vorbis", at: 28) }
  /// Ogg that contains any sound.
  public static let oga = Format(
    "oga", extensions: ["oga"], mimeType: "audio/x-flac+ogg", family: .sound
  ) { $0.isOgg && $0.has("FLAC", at: 29) }
  public static let mp3 = Format(
    "mp3", extensions: ["mp3"], mimeType: "audio/mpeg", otherMimeTypes: ["audio/mp3"], family: .sound,
    head: Array("ID3".utf8)
  ) { $0.has("ID3", at: 0) || $0.isFrame(0xff, 0xe0, layer: 1) }
  public static let mp2 = Format(
    "mp2", otherNames: ["mpa"], extensions: ["mp2", "mpa", "m2a"], mimeType: "audio/mp2", family: .sound
  ) { $0.isFrame(0xff, 0xf0, layer: 2) }
  /// AAC in ADTS.
  public static let aac = Format(
    "aac", extensions: ["aac", "adts"], mimeType: "audio/aac", family: .sound
  ) { $0.isFrame(0xff, 0xf0, layer: 0) }
  public static let ac3 = Format(
    "ac3", extensions: ["ac3"], mimeType: "audio/ac3", family: .sound, head: [0x0b, 0x77])
  public static let dts = Format(
    "dts", extensions: ["dts", "dtshd"], mimeType: "audio/vnd.dts", family: .sound, head: [0x7f, 0xfe, 0x80, 0x01])
  public static let wma = Format("wma", extensions: ["wma"], mimeType: "audio/x-ms-wma", family: .sound)
  /// Telephone speech with 8000 samples per second. `wideAMR` has 16,000.
  public static let amr = Format(
    "amr", extensions: ["amr"], mimeType: "audio/AMR", family: .sound, head: Array("#!AMR\n".utf8))
  public static let wideAMR = Format(
    "awb", extensions: ["awb"], mimeType: "audio/AMR-WB", family: .sound, head: Array("#!AMR-WB\n".utf8))
  public static let gsm = Format("gsm", extensions: ["gsm"], mimeType: "audio/x-gsm", family: .sound)
  public static let wavpack = Format(
    "wv", otherNames: ["wavpack"], extensions: ["wv"], mimeType: "audio/x-wavpack", family: .sound,
    head: Array("wvpk".utf8))
  public static let voc = Format(
    "voc", extensions: ["voc"], mimeType: "audio/x-voc", family: .sound, head: Array("Creative Voice File".utf8))
  public static let ircam = Format(
    "ircam", otherNames: ["sf"], extensions: ["ircam", "sf"], mimeType: "audio/x-ircam", family: .sound,
    head: [0x64, 0xa3, 0x03, 0x00]
  ) { head in
    [[0x64, 0xa3, 1, 0], [0x64, 0xa3, 2, 0], [0x64, 0xa3, 3, 0], [0x64, 0xa3, 4, 0], [0, 2, 0xa3, 0x64]]
      .contains { head.starts(with: $0) }
  }
  /// Matroska that contains only sound.
  public static let mka = Format("mka", extensions: ["mka"], mimeType: "audio/x-matroska", family: .sound)
  public static let monkeysAudio = Format(
    "ape", extensions: ["ape"], mimeType: "audio/x-ape", family: .sound, head: Array("MAC ".utf8))
  public static let trueAudio = Format(
    "tta", extensions: ["tta"], mimeType: "audio/x-tta", family: .sound, head: Array("TTA1".utf8))
  public static let musepack = Format(
    "mpc", extensions: ["mpc"], mimeType: "audio/x-musepack", family: .sound, head: Array("MPCK".utf8)
  ) { $0.has("MPCK", at: 0) || $0.has("MP+", at: 0) }
  public static let tak = Format(
    "tak", extensions: ["tak"], mimeType: "audio/x-tak", family: .sound, head: Array("tBaK".utf8))
  public static let dsd = Format(
    "dsf", extensions: ["dsf", "dff"], mimeType: "audio/x-dsf", family: .sound, head: Array("DSD ".utf8)
  ) { $0.has("DSD ", at: 0) || $0.has("FRM8", at: 0) }
  public static let realAudio = Format(
    "ra", extensions: ["ra"], mimeType: "audio/vnd.rn-realaudio", family: .sound, head: Array(".ra".utf8) + [0xfd])
  public static let eac3 = Format("eac3", extensions: ["eac3", "ec3"], mimeType: "audio/eac3", family: .sound)

  /// All sound formats.
  public static let sounds: [Format] = [
    .flac, .wav, .w64, .aiff, .au, .caf, .m4a, .opus, .speex, .ogg, .oga, .mp3, .mp2, .aac, .ac3, .dts, .wma, .amr,
    .wideAMR, .gsm, .wavpack, .voc, .ircam, .mka, .monkeysAudio, .trueAudio, .musepack, .tak, .dsd, .realAudio, .eac3,
  ]

  /// Sound formats that can contain a cover.
  public static let coveredSounds = sounds.filter { !uncoveredSounds.contains($0) }
  private static let uncoveredSounds: Set<Format> = [.w64, .au, .caf, .ac3, .dts, .amr, .gsm, .voc, .ircam, .eac3]
}

extension ArraySlice<UInt8> {
  /// Whether the bytes start with an Ogg page.
  var isOgg: Bool { has("OggS", at: 0) }

  /// Returns whether the bytes start with an MPEG audio frame header whose fields are valid. `layer` is the value of
  /// the header's layer field.
  fileprivate func isFrame(_ first: UInt8, _ second: UInt8, layer: UInt8) -> Bool {
    guard count >= 4 else { return false }
    let bytes = Array(prefix(4))
    guard bytes[0] == first, bytes[1] & second == second, bytes[1] >> 1 & 3 == layer else { return false }
    if layer == 0 { return bytes[2] >> 2 & 15 < 13 && bytes[1] & 0xf6 == 0xf0 }
    return bytes[1] >> 3 & 3 != 1 && bytes[2] >> 4 != 0 && bytes[2] >> 4 != 15 && bytes[2] >> 2 & 3 != 3
  }
}
