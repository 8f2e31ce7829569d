/// The page of a document that is recognized, and its languages: `12/deu+eng`.
public struct PageRecognition: Arguments {
  /// The number of the page, from 1.
  public let page: Int
  public let languages: ReadingLanguages

  public init(page: Int, _ languages: ReadingLanguages) { (self.page, self.languages) = (page, languages) }

  /// Returns `nil` for other text.
  public init?(_ text: Substring) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let selection = PageSelection(parts[0]), selection.runs.count == 1,
      selection.runs[0].last == selection.runs[0].first, let languages = ReadingLanguages(parts[1])
    else { return nil }
    self.init(page: selection.runs[0].first, languages)
  }

  public var description: String { "\(page)/\(languages)" }
}
