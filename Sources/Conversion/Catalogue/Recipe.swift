/// The parameters that, together with a source's bytes, determine the result of a conversion.
///
/// A recipe consists of the verb of a conversion in a `Catalogue`, and its arguments as text. The text is sent to the
/// worker and is part of the names of cached results.
public struct Recipe: Hashable, Sendable {
  /// The verb of the conversion.
  public let verb: String
  /// The printed `Arguments` of the conversion. `nil` if it has none.
  public let arguments: String?

  /// The version of all recipes. It is incremented when recipes yield different bytes, so that older results and sizes
  /// are no longer used.
  public static let version: UInt64 = 19

  /// Creates a recipe.
  ///
  /// - Parameter arguments: The arguments, of the conversion's type.
  public init(verb: String, _ arguments: (any Arguments)? = nil) {
    self.verb = verb
    self.arguments = arguments?.description
  }

  /// Creates the recipe with this description, without looking it up in a catalogue.
  init(unchecked description: String) {
    let words = description.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    verb = String(words[0])
    arguments = words.count > 1 ? String(words[1]) : nil
  }

  /// Parses the recipe of a conversion in `catalogue`. Returns `nil` if the conversion does not exist or its arguments
  /// are invalid.
  public init?(_ description: String, in catalogue: Catalogue = .standard) {
    let given = Recipe(unchecked: description)
    guard let conversion = catalogue.conversion(given.verb) else { return nil }
    guard let type = conversion.arguments else {
      if given.arguments != nil { return nil }
      self = given
      return
    }
    guard let text = given.arguments, let arguments = type.init(text[...]) else { return nil }
    self.init(verb: given.verb, arguments)
  }
}

extension Recipe: LosslessStringConvertible {
  /// The text of the recipe: `pages 2-5`, `jpeg 1600px.q70`, `text`. Different recipes have different descriptions.
  public var description: String { arguments.map { "\(verb) \($0)" } ?? verb }

  public init?(_ description: String) { self.init(description, in: .standard) }
}
