/// Modifiers for drawing a sound's waveform, as in `song.mp3.800x200.waveform.as-png`.
public struct WaveformChanges: Modifiers {
  /// The size of the picture, in pixels.
  public private(set) var size: (width: Int, height: Int) = WaveformChanges.usualSize
  private var isSized = false
  private var sound = SoundChanges()
  /// Whether the modifier `waveform` is present, which is required.
  private var isWaveform = false

  public static let usualSize = (width: 1200, height: 240)

  public init() {}

  public var span: MediaSpan? { sound.span }
  public var track: Int? { sound.track }
  public var isComplete: Bool { isWaveform }

  public mutating func add(_ word: Substring) -> Bool {
    if word == "waveform" {
      defer { isWaveform = true }
      return !isWaveform
    }
    var changed = sound
    if changed.add(word) {
      var rest = changed
      (rest.span, rest.track) = (nil, nil)
      guard rest == SoundChanges() else { return false }
      sound = changed
      return true
    }
    let sides = word.split(separator: "x", omittingEmptySubsequences: false)
    guard !isSized, sides.count == 2, let width = Self.side(sides[0]), let height = Self.side(sides[1]) else {
      return false
    }
    size = (width, height)
    isSized = true
    return true
  }

  private static func side(_ text: Substring) -> Int? {
    guard (2...4).contains(text.utf8.count), text.first != "0", text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(text).flatMap { (16...8000).contains($0) ? $0 : nil }
  }

  public static let examples: [(modifier: String, meaning: String)] = [
    ("waveform", "the picture of the waveform; always required"),
    ("800x200", "the width and height, in pixels"),
    ("10s-1m20s", "this part of the sound"),
    ("track2", "one of several sound tracks in a film"),
  ]

  public static func == (one: Self, other: Self) -> Bool { one.description == other.description }
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }

  public var description: String {
    let words = ["waveform", "\(size.width)x\(size.height)"] + (sound == SoundChanges() ? [] : [sound.description])
    return words.joined(separator: ".")
  }
}
