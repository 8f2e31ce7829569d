/// The modifier for extracting a film's subtitles, as in `film.mkv.track2.as-srt`.
public struct SubtitleChanges: Modifiers {
  /// The number of the track among the subtitle tracks, from 1. `nil` is the track that players choose.
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
    ("track2", "one of several subtitle tracks; tracks of pictures are not counted")
  ]
}
