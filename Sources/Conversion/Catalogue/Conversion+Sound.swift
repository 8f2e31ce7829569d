/// Conversions of sound, and of the sound of films: `NAME[.MODIFIER…].as-FORMAT`.
extension Conversion {
  public static let sounds: [Conversion] =
    [sound(.mp3, SoundChanges.self, 2, .growing, listed: [.flac, .wav])]
    + [.wav, .aiff, .au, .caf, .w64].map { sound($0, LosslessSoundChanges.self, 40, .parts) }
    + [.flac, .wavpack].map { sound($0, LosslessSoundChanges.self, 40) }
    + [sound(.ogg, SoundChanges.self, 2, .growing)]
    + [.opus, .oga, .aac, .ac3, .mp2, .dts, .speex, .gsm, .amr, .wideAMR].map {
      sound($0, CodedSoundChanges.self, 2, .growing)
    }
    + [.m4a, .mka, .wma, .voc, .ircam].map { sound($0, CodedSoundChanges.self, 8) }

  /// A picture of a sound's loudness over time.
  public static let waveform = {
    var conversion = Conversion(
      "waveform", from: Format.sounds + Format.films, to: .png, arguments: WaveformChanges.self, size: .guess(1),
      programs: ["ffmedia"], meaning: ("any sound or film", "a picture of its sound from start to end"))
    conversion.slowness = 20
    return conversion
  }()

  private static func sound(
    _ result: Format, _ arguments: any Modifiers.Type, _ factor: Int64, _ making: Making = .whole,
    listed: [Format] = []
  ) -> Conversion {
    var conversion = Conversion(
      from: Format.sounds + Format.films, to: result, arguments: arguments, listed: listed, size: .guess(factor),
      programs: ["ffmedia"],
      meaning: (
        "any sound or film", result == .mp3 ? "its sound as MP3" : "its sound in another format"
      ))
    conversion.making = making
    conversion.outputLimit = 8 << 30
    conversion.slowness = 20
    return conversion
  }
}
