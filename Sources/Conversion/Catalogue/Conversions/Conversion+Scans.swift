/// Conversions of scans and of photos of pages: text recognition and straightening.
extension Conversion {
  public static let scans: [Conversion] = [
    scannedPage, scan(.png, 100), scan(.pdf, 8), scannedDocument, scannedFolder,
  ]

  /// Conversions by text recognition.
  public static let texts: [Conversion] = [
    recognized("recognized", .plainText, 8, "the text of its pages, recognised where they have none"),
    recognized("hocr", .hocr, 100, "its recognised text as hOCR or as a table, each word with its position"),
    recognized("tsv", .tsv, 100, "its recognised text as hOCR or as a table, each word with its position"),
    searchable, recognizedPage, pageTexts,
  ]

  /// The texts that pages have, and which pages have to be recognized. See `PageTexts`.
  public static let pageTexts = Conversion(
    "page-texts", from: readable, to: .plainText, as: .inView, size: .guess(8), programs: ["ffscan"],
    meaning: ("any image or PDF", "the text of each page that has some"))

  /// The recognized text of one page, from which the conversions of the whole document are made.
  public static let recognizedPage: Conversion = {
    var conversion = Conversion(
      recognizedPageVerb, from: readable, to: .plainText, as: .inView, arguments: PageRecognition.self, size: .guess(8),
      programs: ["ffscan"], meaning: ("any image or PDF", "the recognised text of one of its pages"))
    conversion.slowness = 4
    return conversion
  }()

  /// The pages with an added layer of searchable text.
  public static let searchable = {
    var conversion = Conversion(
      "searchable", from: readable, to: .pdf, as: .whole, arguments: RecognitionChanges.self, size: .guess(8),
      programs: ["ffscan"],
      meaning: ("any image or PDF", "the same pages with recognised text behind them, for searching and copying"))
    conversion.slowness = pagesSlow
    conversion.pageVerb = recognizedPageVerb
    return conversion
  }()

  /// A document made from one file. `scannedFolder` has a photo for each page.
  public static let scannedDocument = document("scan", from: readable, as: .whole, "any photo of a page, or scan")
  public static let scannedFolder = document(
    "scanfolder", from: readable.filter { $0 != .pdf }, as: .folder, "any folder with photos of pages")

  private static func document(
    _ verb: String, from sources: [Format], as naming: Naming, _ meaning: String
  ) -> Conversion {
    var conversion = Conversion(
      verb, named: "scan", from: sources, to: .pdf, as: naming, arguments: DocumentScanChanges.self, size: .guess(8),
      programs: ["ffscan"], meaning: (meaning, "its pages, straightened and cleaned, with recognised text behind them"))
    conversion.slowness = pagesSlow
    return conversion
  }

  private static let recognizedPageVerb = "recognized-page"

  /// The slowness of conversions with hundreds of pages, each of which takes some seconds.
  private static let pagesSlow = 30

  /// The page in a photo as a separate file.
  public static let scannedPage = scan(.jpeg, 8)

  /// The formats whose text can be recognized. Raw photos are excluded because they seldom show pages.
  private static let readable = Format.images.filter { $0.family == .image } + [.pdf]

  private static func recognized(_ verb: String, _ result: Format, _ factor: Int64, _ meaning: String) -> Conversion {
    var conversion = Conversion(
      verb, from: readable, to: result, arguments: RecognitionChanges.self, size: .guess(factor), programs: ["ffscan"],
      meaning: ("any image or PDF", meaning))
    conversion.slowness = pagesSlow
    conversion.pageVerb = recognizedPageVerb
    return conversion
  }

  private static func scan(_ result: Format, _ factor: Int64) -> Conversion {
    Conversion(
      "scan-\(result.name)", from: Format.images, to: result, arguments: ScanChanges.self, size: .guess(factor),
      programs: ["ffscan"], meaning: ("any photo of a page", "the page, straightened and cleaned"))
  }
}
