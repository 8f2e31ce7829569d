/// How a result is made of a file's bytes: together they determine it.
///
/// A recipe names a conversion of a `Catalogue` and its arguments, as text. That text is the job that a worker gets, and is
/// part of the names of cached results.
public struct Recipe: Hashable, Sendable {
  /// The conversion's.
  public let verb: String
  /// As the conversion's `Arguments` print them; nil if it has none.
  public let arguments: String?

  /// Incremented when recipes yield other bytes than before: older results and their sizes are not used any more.
  public static let version: UInt64 = 11

  /// - Parameter arguments: of the conversion's type.
  public init(verb: String, _ arguments: (any Arguments)? = nil) {
    self.verb = verb
    self.arguments = arguments?.description
  }

  /// The recipe that `description` was of, whether or not any catalogue has such a conversion.
  init(unchecked description: String) {
    let words = description.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    verb = String(words[0])
    arguments = words.count > 1 ? String(words[1]) : nil
  }

  /// The recipe of a conversion of `catalogue`; nil if there is none, or its arguments have no meaning.
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
  /// `pages 2-5`, `jpeg 1600px.q70`, `text`; equal for two recipes only if they are equal.
  public var description: String { arguments.map { "\(verb) \($0)" } ?? verb }

  public init?(_ description: String) { self.init(description, in: .standard) }
}
