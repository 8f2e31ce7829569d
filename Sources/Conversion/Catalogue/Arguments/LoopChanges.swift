/// Modifiers for converting a film to an animated image. A subset of `FilmChanges` without sound and coding.
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

  /// The changes to the film: no sound, and a longest side of at most 480 pixels unless a modifier sets the size.
  public var film: FilmChanges { changes.asLoop }

  public var description: String { changes.description }

  public static var examples: [(modifier: String, meaning: String)] {
    FilmChanges.examples.filter { !others.contains($0.modifier) }
  }
}
