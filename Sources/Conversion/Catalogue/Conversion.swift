internal import Bytes

/// What can be made of files of some formats, and everything about it but how it is done: the worker program does that, in a
/// `JobHandler` of the same verb.
public struct Conversion: Sendable {
  /// How its results are called.
  public enum Naming: Sendable {
    /// `NAME[.MODIFIER…].as-RESULT`.
    case suffix
    /// `STEM[.MODIFIER…].VERB.EXTENSION` beside `STEM.EXTENSION`.
    case stem
    /// `FOLDER.VERB.EXTENSION`, made of the files in a folder.
    case folder
    /// By names that a view of its own gives them.
    case inView
  }

  /// How large a result is.
  public enum Size: Sendable {
    /// So many times the source's size and a mebibyte: a guess that is too large for nearly all.
    case guess(Int64)
    /// Never larger than the source.
    case atMostSource

    /// In bytes.
    public func estimate(fromFileOf size: Int64) -> Int64 {
      switch self {
      case .guess(let factor): Bounds.size(Bounds.size(size) * factor + 1 << 20)
      case .atMostSource: Bounds.size(size)
      }
    }
  }

  /// Unique in a catalogue; in recipes, and in names that have it.
  public let verb: String
  public let sources: Set<Format>
  public let result: Format
  public let naming: Naming
  /// The type of its arguments; nil if it has none.
  public let arguments: (any Arguments.Type)?
  /// The formats that a listing shows it beside.
  public let listed: Set<Format>
  /// Those and the formats that it may be shown beside if `-o views=` says so.
  public let listable: Set<Format>
  public let size: Size
  /// The worker programs that can do it, the best first.
  public let programs: [String]
  /// What it is made of and what it is, for people. Neighbours that say the same are told of together.
  public let meaning: (sources: String, result: String)
  /// Whether a file that it can make nothing of is its own result.
  public var keepsWhatItCannotChange = false
  /// Whether another conversion may go on from its result without being asked to: see `Catalogue.chain`.
  public var leadsOn = false

  /// `verb`: nil for the result's name.
  public init(
    _ verb: String? = nil, from sources: [Format], to result: Format, as naming: Naming = .suffix,
    arguments: (any Arguments.Type)? = nil, listed: [Format] = [], listable: [Format] = [], size: Size,
    programs: [String],
    meaning: (sources: String, result: String)
  ) {
    self.verb = verb ?? result.name
    self.sources = Set(sources)
    self.result = result
    self.naming = naming
    self.arguments = arguments
    self.listed = Set(listed)
    self.listable = Set(listed + listable)
    self.size = size
    self.programs = programs
    self.meaning = meaning
  }

  /// The words that its names may have; nil if there are none.
  public var modifiers: (any Modifiers.Type)? { arguments as? any Modifiers.Type }

  /// The recipe without any modifier.
  public var plainRecipe: Recipe { Recipe(verb: verb, modifiers.map { $0.init() }) }

  /// The recipe by modifiers with dots between them, for a source of a format, or of any; nil if one has no meaning.
  public func recipe(_ words: String, of source: Format? = nil) -> Recipe? {
    guard let type = modifiers else { return words.isEmpty ? plainRecipe : nil }
    guard let modifiers = type.init(words[...]), source.map({ modifiers.apply(to: $0) }) ?? true else { return nil }
    return Recipe(verb: verb, modifiers)
  }
}
