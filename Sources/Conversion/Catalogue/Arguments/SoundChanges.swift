/// Modifiers for converting sound, as in `song.flac.128k.mono.as-mp3`.
public struct SoundChanges: Modifiers {
  public enum Channels: String, CaseIterable, Sendable {
    case mono, stereo
    /// Six channels (5.1).
    case surround

    public var count: Int {
      switch self {
      case .mono: 1
      case .stereo: 2
      case .surround: 6
      }
    }
  }

  /// The bit rate in thousands of bits per second. `nil` is the format's default.
  public var bitRate: Int?
  /// The quality of a variable bit rate, from 0 (best) to 9. `nil` is a constant bit rate.
  public var quality: Int?
  /// The number of samples per second. `nil` is the source's.
  public var rate: Int?
  /// The channels of the result. `nil` is the source's.
  public var channels: Channels?
  /// The number of bits per sample in lossless formats. `nil` is the source's.
  public var depth: Int?
  public var span: MediaSpan?
  public var speed: PlaySpeed?
  /// The number of the sound track in a file with several, from 1. `nil` is the track that players choose.
  public var track: Int?

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    if let span = MediaSpan(word) { return set(\.span, span) }
    if let speed = PlaySpeed(word) { return set(\.speed, speed) }
    if let channels = Channels(rawValue: String(word)) { return set(\.channels, channels) }
    switch word {
    case "16bit", "24bit", "32bit": return set(\.depth, Int(word.prefix(2)))
    default: break
    }
    if word.hasPrefix("track") { return set(\.track, Self.number(word.dropFirst(5), in: 1...1000)) }
    if word.hasSuffix("khz") {
      return set(\.rate, Self.number(word.dropLast(3), in: 4...384).map { $0 * 1000 })
    }
    if word.hasSuffix("hz") { return set(\.rate, Self.number(word.dropLast(2), in: 4000...384_000)) }
    if word.hasSuffix("k"), quality == nil { return set(\.bitRate, Self.number(word.dropLast(), in: 4...3000)) }
    if word.first == "v", bitRate == nil, word.count == 2 {
      return set(\.quality, word == "v0" ? 0 : Self.number(word.dropFirst(), in: 1...9))
    }
    return false
  }

  private mutating func set<Value>(_ property: WritableKeyPath<Self, Value?>, _ value: Value?) -> Bool {
    guard self[keyPath: property] == nil, let value else { return false }
    self[keyPath: property] = value
    return true
  }

  /// Parses a number without a sign or leading zeros.
  private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
    guard (1...6).contains(text.utf8.count), text.first != "0",
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), range.contains(number)
    else { return nil }
    return number
  }

  /// Whether the sound of every file stays unchanged.
  public var keepsSound: Bool {
    var rest = self
    rest.track = nil
    return rest == SoundChanges()
  }

  /// The modifiers in a fixed order, separated by dots.
  public var description: String {
    let words: [String?] = [
      track.map { "track\($0)" }, span?.description, speed?.description, rate.map { "\($0)hz" }, channels?.rawValue,
      depth.map { "\($0)bit" }, bitRate.map { "\($0)k" }, quality.map { "v\($0)" },
    ]
    return words.compactMap(\.self).joined(separator: ".")
  }

  public static let examples: [(modifier: String, meaning: String)] =
    LosslessSoundChanges.examples.filter { $0.modifier != "24bit" } + CodedSoundChanges.rates + [
      ("v2", "variable bit rate, from `v0`, the best, to `v9`")
    ]
}

/// Modifiers for lossless formats, as in `song.flac.44100hz.mono.as-wav`.
public struct LosslessSoundChanges: Modifiers {
  public private(set) var sound = SoundChanges()

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    var changed = sound
    guard changed.add(word), changed.bitRate == nil, changed.quality == nil else { return false }
    sound = changed
    return true
  }

  public var description: String { sound.description }

  public static let examples: [(modifier: String, meaning: String)] = [
    ("10s-1m20s", "from one time to another, exact to the sample; `10s-` is to the end"),
    ("2x", "faster or slower by this factor, from `0.25x` to `4x`, with the pitch kept"),
    ("44100hz", "N samples per second; also `48khz`"),
    ("mono", "one channel; also `stereo` and `surround`"),
    ("24bit", "N bits per sample; also `16bit` and `32bit`"),
    ("track2", "one of several sound tracks in a film"),
  ]
}

/// Modifiers for formats with a bit rate, as in `film.mkv.96k.as-opus`.
public struct CodedSoundChanges: Modifiers {
  public private(set) var sound = SoundChanges()

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    var changed = sound
    guard changed.add(word), changed.quality == nil, changed.depth == nil else { return false }
    sound = changed
    return true
  }

  public var description: String { sound.description }

  fileprivate static let rates = [(modifier: "128k", meaning: "N thousand bits per second")]

  public static let examples: [(modifier: String, meaning: String)] =
    LosslessSoundChanges.examples.filter { $0.modifier != "24bit" } + rates
}
