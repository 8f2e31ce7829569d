/// The parameters of a conversion as text. Each value has exactly one printed form.
public protocol Arguments: Hashable, Sendable, CustomStringConvertible {
  /// Returns `nil` if the text is invalid.
  init?(_ text: Substring)
}

/// Arguments that names contain as modifiers between dots: `photo.png.1600px.q70.as-jpeg`.
public protocol Modifiers: Arguments {
  /// Creates arguments without any modifier.
  init()

  /// Applies one modifier. Returns `false` and changes nothing if it is invalid or repeats an earlier one.
  mutating func add(_ word: Substring) -> Bool

  /// Whether the modifiers so far form a valid name. If not, the first of `examples` is missing.
  var isComplete: Bool { get }

  /// Returns whether the modifiers are valid for a source of this format.
  func apply(to source: Format) -> Bool

  /// User-visible examples, one for each kind of modifier.
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
