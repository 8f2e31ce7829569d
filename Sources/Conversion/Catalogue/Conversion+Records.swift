/// Conversions of albums, which are one or a few files, to tracks.
extension Conversion {
  public static let records: [Conversion] = [cueSheet] + cutFormats.map { cut($0) }

  /// The cue sheet embedded in a sound file, or one made from its chapters. `CueSheet` parses it.
  public static let cueSheet = Conversion(
    "cuesheet", from: Format.sounds, to: .plainText, as: .inView, size: .guess(1), programs: ["ffmedia"],
    meaning: ("any sound", "its cue sheet"))

  /// A part of a sound, cut to the sample, with its own tags.
  private static func cut(_ result: Format) -> Conversion {
    var conversion = Conversion(
      cutVerb(result), from: Format.sounds, to: result, as: .inView, arguments: SoundCut.self, size: .guess(2),
      programs: ["ffmedia"], meaning: ("any sound", "one of its tracks"))
    if result == .wav || result == .aiff { conversion.making = .parts }
    conversion.outputLimit = 8 << 30
    conversion.slowness = 20
    return conversion
  }

  /// The formats of tracks.
  public static let cutFormats: [Format] = [.flac, .wav, .aiff, .mp3]

  public static func cutVerb(_ result: Format) -> String { "cut-\(result.name)" }

  /// Returns the format of a sound's tracks: its own format if that can be cut to the sample, otherwise a lossless one.
  public static func cutFormat(of source: Format) -> Format {
    switch source {
    case .mp3, .aiff: source
    case .wav, .w64, .au, .caf, .voc, .ircam: .wav
    default: .flac
    }
  }
}

extension Recipe {
  /// Returns the recipe for a track of a sound with this format.
  public static func cut(_ cut: SoundCut, of source: Format) -> Recipe {
    Recipe(verb: Conversion.cutVerb(Conversion.cutFormat(of: source)), cut)
  }
}
