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
    /// `NAME[.MODIFIER…].VERB.EXTENSION`.
    case whole
    /// `FOLDER.VERB.EXTENSION`, made of the files in a folder.
    case folder
    /// By names that a view of its own gives them.
    case inView
  }

  /// When a result's bytes can be read.
  public enum Making: Sendable {
    /// Once all of them are made.
    case whole
    /// As they are made, from the first to the last. How many they will be is known beforehand of what its handler can
    /// measure.
    case growing
    /// Each part by itself: how many there are is measured, and none is made that nobody reads; or as `growing`, where the
    /// handler says so (`JobAnswer.inOrder`).
    case parts
  }

  /// How large a result is.
  public enum Size: Sendable {
    /// So many times the source's size and a mebibyte: a guess that is too large for nearly all. `atMost`: in bytes.
    case guess(Int64, atMost: Int64 = .max)
    /// Never larger than the source.
    case atMostSource

    /// In bytes.
    public func estimate(fromFileOf size: Int64) -> Int64 {
      switch self {
      case .guess(let factor, let most): min(most, Bounds.size(Bounds.size(size) * factor + 1 << 20))
      case .atMostSource: Bounds.size(size)
      }
    }
  }

  /// Unique in a catalogue; in recipes.
  public let verb: String
  /// The verb as names have it.
  public let word: String
  public let sources: Set<Format>
  /// The formats of files in a folder that it takes, too, where other conversions make one of `sources` of them.
  public var indirectSources: Set<Format> = []
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
  /// A handler of any other than `whole` answers `Job.Work.measure`.
  public var making = Making.whole
  /// No result has more bytes.
  public var outputLimit = Job.usualOutput
  /// How many times the usual time: recognition takes seconds a page.
  public var slowness = 1
  /// What is said by names without modifiers; nil if there are no modifiers.
  public var usual: (any Modifiers)?
  /// Whether another conversion may go on from its result without being asked to: see `Catalogue.chain`.
  public var leadsOn = false
  /// Whether no conversion may come before it: what would be made of the source can be made better.
  public var isDirect = false

  /// `verb`: nil for the result's name. `word`: nil for the verb.
  public init(
    _ verb: String? = nil, named word: String? = nil, from sources: [Format], to result: Format,
    as naming: Naming = .suffix,
    arguments: (any Arguments.Type)? = nil, listed: [Format] = [], listable: [Format] = [], size: Size,
    programs: [String],
    meaning: (sources: String, result: String)
  ) {
    self.verb = verb ?? result.name
    self.word = word ?? self.verb
    self.sources = Set(sources)
    self.result = result
    self.naming = naming
    self.arguments = arguments
    self.listed = Set(listed)
    self.listable = Set(listed + listable)
    self.size = size
    self.programs = programs
    self.meaning = meaning
    usual = (arguments as? any Modifiers.Type).map { $0.init() }
  }

  /// How many times the usual time it may take of a file of a size in bytes: a small one that takes long is no book.
  public func times(fromFileOf size: Int64) -> Int { Int(min(Int64(slowness), 1 + max(0, size) / Self.usualWork)) }

  /// So many bytes are thirty pages in black and white, and fewer in colours.
  private static let usualWork: Int64 = 200_000

  /// The recipe without any modifier.
  public var plainRecipe: Recipe { Recipe(verb: verb, usual) }

  /// The recipe by modifiers with dots between them, for a source of a format, or of any; nil if one has no meaning.
  public func recipe(_ words: String, of source: Format? = nil) -> Recipe? {
    guard var modifiers = usual else { return words.isEmpty ? plainRecipe : nil }
    for word in words.split(separator: ".") where !modifiers.add(word) { return nil }
    guard modifiers.isComplete, source.map({ modifiers.apply(to: $0) }) ?? true else { return nil }
    return Recipe(verb: verb, modifiers)
  }
}
