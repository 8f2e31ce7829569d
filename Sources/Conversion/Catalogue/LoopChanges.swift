/// What is done to a film on its way to an animated image: those of `FilmChanges` that have a meaning without sound.
public struct LoopChanges: Modifiers {
  private var changes = FilmChanges()

  public init() {}

  private static let others: Set<String> = ["crf28", "2M", "mute", "track2", "av1"]

  public mutating func add(_ word: Substring) -> Bool {
    var changed = changes
    guard changed.add(word), changed.quality == nil, changed.bitRate == nil, changed.codec == nil, !changed.isMute,
      changed.track == nil
    else {
      return false
    }
    changes = changed
    return true
  }

  /// Without sound, and no larger than a page has room for, unless a word says so.
  public var film: FilmChanges { changes.asLoop }

  public var description: String { changes.description }

  public static var examples: [(modifier: String, meaning: String)] {
    FilmChanges.examples.filter { !others.contains($0.modifier) }
  }
}
