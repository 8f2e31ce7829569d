/// How photos of pages, or scans, become one clean document: the modifiers of a name like `FOLDER.bw.deu.scan.pdf`.
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
    // A document has all pages; the word itself is in its name.
    guard changed.add(word), changed.page == nil else { return false }
    scan = changed
    return true
  }

  public static var examples: [(modifier: String, meaning: String)] {
    RecognitionChanges.examples + ScanChanges.examples.filter { DocumentScanChanges($0.modifier[...]) != nil }
  }

  /// `colour.eng`: what names say without the word that all have.
  public var description: String { "\(scan.description.dropFirst("scan.".count)).\(languages)" }
}
