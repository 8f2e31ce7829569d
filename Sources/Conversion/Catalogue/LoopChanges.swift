/// What is done to a film on its way to an animated image: those of `FilmChanges` that have a meaning without sound.
public struct LoopChanges: Modifiers {
  public private(set) var changes = FilmChanges()

  public init() {}

  private static let others: Set<String> = ["crf28", "mute", "track2", "av1"]

  public mutating func add(_ word: Substring) -> Bool {
    var changed = changes
    guard changed.add(word), changed.quality == nil, changed.codec == nil, !changed.isMute, changed.track == nil else {
      return false
    }
    changes = changed
    return true
  }

  public var description: String { changes.description }

  public static var examples: [(modifier: String, meaning: String)] {
    FilmChanges.examples.filter { !others.contains($0.modifier) }
  }
}
