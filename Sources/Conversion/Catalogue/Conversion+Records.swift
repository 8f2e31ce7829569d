/// What is made of records that are one file, or a few: their tracks.
extension Conversion {
  public static let records: [Conversion] = [cueSheet] + cutFormats.map { cut($0) }

  /// The sheet that is in a file, or one made of its chapters: a text that `CueSheet` reads.
  public static let cueSheet = Conversion(
    "cuesheet", from: Format.sounds, to: .plainText, as: .inView, size: .guess(1), programs: ["ffmedia"],
    meaning: ("any sound", "the sheet in it"))

  /// A part of a sound, by the sample, with tags of its own.
  private static func cut(_ result: Format) -> Conversion {
    var conversion = Conversion(
      cutVerb(result), from: Format.sounds, to: result, as: .inView, arguments: SoundCut.self, size: .guess(2),
      programs: ["ffmedia"], meaning: ("any sound", "a track of it"))
    if result == .wav || result == .aiff { conversion.making = .parts }
    conversion.outputLimit = 8 << 30
    conversion.slowness = 20
    return conversion
  }

  /// What tracks are.
  public static let cutFormats: [Format] = [.flac, .wav, .aiff, .mp3]

  public static func cutVerb(_ result: Format) -> String { "cut-\(result.name)" }

  /// What the tracks of a sound are: what it is itself, if that can be cut to the sample; otherwise what loses nothing.
  public static func cutFormat(of source: Format) -> Format {
    switch source {
    case .mp3, .aiff: source
    case .wav, .w64, .au, .caf, .voc, .ircam: .wav
    default: .flac
    }
  }
}

extension Recipe {
  /// The track of a sound in a format.
  public static func cut(_ cut: SoundCut, of source: Format) -> Recipe {
    Recipe(verb: Conversion.cutVerb(Conversion.cutFormat(of: source)), cut)
  }
}
