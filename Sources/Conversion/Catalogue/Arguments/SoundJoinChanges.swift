/// Modifiers for joining the sounds in a directory, as in `album.crossfade=2s.merged.mp3`.
public struct SoundJoinChanges: Modifiers {
  /// The duration for which the end of a sound overlaps the start of the next. `nil` disables this.
  public private(set) var crossfade: MediaTime?
  public private(set) var sound = SoundChanges()

  public init() {}

  private static let mark = "crossfade="
  private static let possible = MediaTime(milliseconds: 10)...MediaTime(milliseconds: 30_000)

  public mutating func add(_ word: Substring) -> Bool {
    if word.hasPrefix(Self.mark) {
      guard crossfade == nil, let time = MediaTime(word.dropFirst(Self.mark.count)), Self.possible.contains(time) else {
        return false
      }
      crossfade = time
      return true
    }
    var changed = sound
    guard changed.add(word), changed.span == nil, changed.speed == nil, changed.track == nil, changed.quality == nil,
      changed.depth == nil
    else { return false }
    sound = changed
    return true
  }

  public var description: String {
    let words = [crossfade.map { "\(Self.mark)\($0)" }, sound.description]
    return words.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ".")
  }

  public static let examples: [(modifier: String, meaning: String)] = [
    ("crossfade=2s", "the end of each overlaps the start of the next by this time"),
    ("128k", "N thousand bits per second"), ("44100hz", "N samples per second; also `48khz`"),
    ("mono", "one channel; also `stereo` and `surround`"),
  ]
}
