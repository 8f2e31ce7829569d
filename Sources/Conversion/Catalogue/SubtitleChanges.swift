/// Which subtitles of a film become a file: the modifier of a name like `film.mkv.track2.as-srt`.
public struct SubtitleChanges: Modifiers {
  /// The number of the track among those of subtitles, from 1. Nil for the one that players choose.
  public private(set) var track: Int?

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    guard track == nil, word.hasPrefix("track"), let number = Int(word.dropFirst(5)), (1...99).contains(number),
      word == "track\(number)"
    else { return false }
    track = number
    return true
  }

  public var description: String { track.map { "track\($0)" } ?? "" }

  public static let examples: [(modifier: String, meaning: String)] = [
    ("track2", "of several subtitles these; pictures of text are not counted")
  ]
}
