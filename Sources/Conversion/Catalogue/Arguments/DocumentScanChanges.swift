/// Modifiers for combining photos of pages, or scans, into one clean document, as in `FOLDER.bw.deu.scan.pdf`.
public struct DocumentScanChanges: Modifiers, RecognizesText {
  private var scan = ScanChanges.plain
  private var recognition = RecognitionChanges()

  public init() {}

  public var filter: ScanFilter { scan.filter }
  public var rest: ImageChanges { scan.rest }
  public var languages: ReadingLanguages { recognition.languages }
  public var usualLanguages: ReadingLanguages {
    get { recognition.usualLanguages }
    set { recognition.usualLanguages = newValue }
  }

  public mutating func add(_ word: Substring) -> Bool {
    if recognition.add(word) { return true }
    var changed = scan
    // A document contains all pages. Its name contains `scan` already.
    guard changed.add(word), changed.page == nil else { return false }
    scan = changed
    return true
  }

  public static var examples: [(modifier: String, meaning: String)] {
    RecognitionChanges.examples + ScanChanges.examples.filter { DocumentScanChanges($0.modifier[...]) != nil }
  }

  /// The modifiers without `scan`, which all of these names contain: `colour.eng`.
  public var description: String { "\(scan.description.dropFirst("scan.".count)).\(languages)" }
}
