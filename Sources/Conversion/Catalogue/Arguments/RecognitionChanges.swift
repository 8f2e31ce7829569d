/// Modifiers for text recognition, as in `scan.pdf.deu+eng.as-txt`.
public struct RecognitionChanges: Modifiers, RecognizesText {
  /// The languages in the name. `nil` for the mount's languages.
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

  /// The modifiers with default languages written out, so that names with explicit defaults have the same result.
  public var description: String { languages.description }
}

/// The modifiers of a conversion that recognizes text.
public protocol RecognizesText: Modifiers {
  /// The languages of names that contain none.
  var usualLanguages: ReadingLanguages { get set }
}

extension Catalogue {
  /// Returns a catalogue with these languages for names that contain none.
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
