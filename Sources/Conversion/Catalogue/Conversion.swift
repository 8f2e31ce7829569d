internal import Bytes

/// A conversion from some formats to another. The worker program implements it with a `JobHandler` of the same verb.
public struct Conversion: Sendable {
  /// The form of the names of results.
  public enum Naming: Sendable {
    /// `NAME[.MODIFIER…].as-RESULT`.
    case suffix
    /// `STEM[.MODIFIER…].VERB.EXTENSION` beside `STEM.EXTENSION`.
    case stem
    /// `NAME[.MODIFIER…].VERB.EXTENSION`.
    case whole
    /// `FOLDER.VERB.EXTENSION`, made from the files in a directory.
    case folder
    /// Names that a separate view assigns.
    case inView
  }

  /// The order in which a result's bytes become readable.
  public enum Making: Sendable {
    /// All at once, when the result is complete.
    case whole
    /// From first to last, while they are made. The size is known beforehand if the handler can measure it.
    case growing
    /// Each part independently. The size is measured, and parts are made only when they are read. If the handler
    /// answers `JobAnswer.inOrder`, the result is `growing` instead.
    case parts
  }

  /// An estimate of the size of a result.
  public enum Size: Sendable {
    /// The source's size times a factor, plus 1 MiB, which is too large for nearly all results. `atMost` is a limit in
    /// bytes.
    case guess(Int64, atMost: Int64 = .max)
    /// The source's size, which results never exceed.
    case atMostSource

    /// Returns the estimated size for a source of this size, in bytes.
    public func estimate(fromFileOf size: Int64) -> Int64 {
      switch self {
      case .guess(let factor, let most): min(most, Bounds.size(Bounds.size(size) * factor + 1 << 20))
      case .atMostSource: Bounds.size(size)
      }
    }
  }

  /// The identifier in recipes. Unique in a catalogue.
  public let verb: String
  /// The form of the verb in names.
  public let word: String
  public let sources: Set<Format>
  /// Formats of files in a directory that are accepted if other conversions can convert them to one of `sources`.
  public var indirectSources: Set<Format> = []
  public let result: Format
  public let naming: Naming
  /// The type of the arguments. `nil` if there are none.
  public let arguments: (any Arguments.Type)?
  /// The source formats for which the result is listed by default.
  public let listed: Set<Format>
  /// The source formats for which `-o views=` can list the result. Includes `listed`.
  public let listable: Set<Format>
  public let size: Size
  /// The worker programs that implement the conversion, the best first.
  public let programs: [String]
  /// User-visible descriptions of the source and the result. Adjacent conversions with the same descriptions are shown
  /// together.
  public let meaning: (sources: String, result: String)
  /// Whether a file that cannot be converted is its own result.
  public var keepsWhatItCannotChange = false
  /// The order in which results become readable. Handlers answer `Job.Work.measure` unless this is `whole`.
  public var making = Making.whole
  /// The maximum size of a result, in bytes.
  public var outputLimit = Job.usualOutput
  /// The maximum multiple of the usual time limit. Text recognition takes seconds per page.
  public var slowness = 1
  /// The arguments of names without modifiers. `nil` if the conversion has no modifiers.
  public var usual: (any Modifiers)?
  /// Whether another conversion can continue from its result automatically. See `Catalogue.chain`.
  public var leadsOn = false
  /// Whether no other conversion may precede this one, because better results can be made directly from the source.
  public var isDirect = false

  /// Creates a conversion. `verb` defaults to the name of the result's format, and `word` to the verb.
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

  /// Returns the multiple of the usual time limit for a source of this size in bytes. Small files with many pages are
  /// rare, so the limit grows with the size.
  public func times(fromFileOf size: Int64) -> Int { Int(min(Int64(slowness), 1 + max(0, size) / Self.usualWork)) }

  /// The source size that extends the time limit by one unit, in bytes. Equals thirty pages in black and white, or
  /// fewer in colour.
  private static let usualWork: Int64 = 200_000

  /// The recipe without any modifier.
  public var plainRecipe: Recipe { Recipe(verb: verb, usual) }

  /// Returns the recipe for dot-separated modifiers. Returns `nil` if one is invalid, or not valid for a source of this
  /// format. If `source` is `nil`, modifiers for any format are accepted.
  public func recipe(_ words: String, of source: Format? = nil) -> Recipe? {
    guard var modifiers = usual else { return words.isEmpty ? plainRecipe : nil }
    for word in words.split(separator: ".") where !modifiers.add(word) { return nil }
    guard modifiers.isComplete, source.map({ modifiers.apply(to: $0) }) ?? true else { return nil }
    return Recipe(verb: verb, modifiers)
  }
}
