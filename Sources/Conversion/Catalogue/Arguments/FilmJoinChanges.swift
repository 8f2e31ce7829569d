/// Modifiers for joining the films in a directory, as in `clips.720p.merged.mp4`. A subset of `FilmChanges`.
public struct FilmJoinChanges: Modifiers {
  public private(set) var film = FilmChanges()

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    var changed = film
    guard changed.add(word), changed.span == nil, changed.speed == nil, changed.area == nil, changed.turn == nil,
      !changed.isFlipped, !changed.isMirrored, changed.track == nil
    else { return false }
    film = changed
    return true
  }

  public var description: String { film.description }

  public static var examples: [(modifier: String, meaning: String)] {
    FilmChanges.examples.filter { example in
      var changes = FilmJoinChanges()
      return changes.add(example.modifier[...])
    }
  }
}
