/// What a name says about how a result is made: typed, and printed in one way.
public protocol Arguments: Hashable, Sendable, CustomStringConvertible {
  /// nil if the text has no meaning.
  init?(_ text: Substring)
}

/// Arguments given as words between dots: `photo.png.1600px.q70.as-jpeg`.
public protocol Modifiers: Arguments {
  /// Without any word.
  init()

  /// Applies one word. Returns false, and changes nothing, if it has no meaning or repeats what another set.
  mutating func add(_ word: Substring) -> Bool

  /// Whether the words so far are a name's; otherwise it takes the word that `examples` has first.
  var isComplete: Bool { get }

  /// Whether the words have a meaning for a source of this format.
  func apply(to source: Format) -> Bool

  /// One of each kind of word, with its meaning for people.
  static var examples: [(modifier: String, meaning: String)] { get }
}

extension Modifiers {
  public init?(_ text: Substring) {
    self.init()
    for word in text.split(separator: ".") where !add(word) { return nil }
  }

  public var isComplete: Bool { true }
  public func apply(to source: Format) -> Bool { true }
}
