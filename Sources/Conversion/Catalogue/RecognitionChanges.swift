/// How text is recognised: the modifiers of a name like `scan.pdf.deu+eng.as-txt`.
public struct RecognitionChanges: Modifiers, RecognizesText {
  /// nil: the mount's.
  private var named: ReadingLanguages?
  public var usualLanguages = ReadingLanguages.english

  public init() {}

  public var languages: ReadingLanguages { named ?? usualLanguages }

  public mutating func add(_ word: Substring) -> Bool {
    guard named == nil, let languages = ReadingLanguages(word) else { return false }
    named = languages
    return true
  }

  public static let examples = [(modifier: "deu+eng", meaning: "the languages of recognised text")]

  /// With the usual languages written out, so that a name that says them has the same result.
  public var description: String { languages.description }
}

/// What a conversion that recognises text goes by.
public protocol RecognizesText: Modifiers {
  /// Where a name says none.
  var usualLanguages: ReadingLanguages { get set }
}

extension Catalogue {
  /// This one, with text recognised in these languages where names do not say any.
  public func recognizing(_ languages: ReadingLanguages) -> Catalogue {
    Catalogue(
      formats: formats,
      conversions: conversions.map { conversion in
        guard var usual = conversion.usual as? any RecognizesText else { return conversion }
        usual.usualLanguages = languages
        var conversion = conversion
        conversion.usual = usual
        return conversion
      })
  }
}
