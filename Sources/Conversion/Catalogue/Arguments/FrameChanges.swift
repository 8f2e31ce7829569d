/// Modifiers for a directory of a film's pictures, as in `film.mkv.every=10s.800px.frames`.
public struct FrameChanges: Modifiers {
  private var named: MediaTime?
  /// The modifiers for each picture.
  private var others = StillChanges()

  public init() {}

  /// The interval between pictures, in whole seconds.
  public var interval: MediaTime { named ?? MediaTime(milliseconds: 1000) }

  private static let mark = "every="

  public mutating func add(_ word: Substring) -> Bool {
    guard word.hasPrefix(Self.mark) else {
      var changed = others
      guard changed.add(word), changed.time == nil, !changed.isContactSheet else { return false }
      others = changed
      return true
    }
    guard named == nil, let time = MediaTime(word.dropFirst(Self.mark.count)), time.milliseconds >= 1000,
      time.milliseconds % 1000 == 0
    else { return false }
    named = time
    return true
  }

  /// Returns the recipe for the picture at a time.
  public func recipe(at time: MediaTime) -> Recipe? {
    var changes = others
    return changes.add(Substring(time.description)) ? Recipe(verb: Conversion.frames.verb, changes) : nil
  }

  public var description: String {
    let words = ["\(Self.mark)\(interval)", others.description]
    return words.filter { !$0.isEmpty }.joined(separator: ".")
  }

  public static let examples: [(modifier: String, meaning: String)] =
    [("every=10s", "the time between pictures; one second by default")]
    + StillChanges.examples.filter { $0.modifier != "1m30s" && $0.modifier != "contact" }
}
