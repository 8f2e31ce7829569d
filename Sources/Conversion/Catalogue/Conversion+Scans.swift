/// What is made of scans and of photos of pages, by recognition and by straightening.
extension Conversion {
  public static let scans: [Conversion] = [
    recognized("recognized", .plainText, 8, "the text of its pages, recognised where they have none"),
    recognized("hocr", .hocr, 100, "its recognised text as hOCR or as a table, each word with its place"),
    recognized("tsv", .tsv, 100, "its recognised text as hOCR or as a table, each word with its place"),
    searchable, scan(.jpeg, 8), scan(.png, 100), scan(.pdf, 8),
  ]

  /// The same pages with text that can be found.
  public static let searchable = Conversion(
    "searchable", from: readable, to: .pdf, as: .whole, arguments: RecognitionChanges.self, size: .guess(8),
    programs: ["ffscan"],
    meaning: ("any image or PDF", "the same pages with recognised text behind them, to be searched and copied"))

  /// Raw photos are of other things.
  private static let readable = Format.images.filter { $0.family == .image } + [.pdf]

  private static func recognized(_ verb: String, _ result: Format, _ factor: Int64, _ meaning: String) -> Conversion {
    Conversion(
      verb, from: readable, to: result, arguments: RecognitionChanges.self, size: .guess(factor), programs: ["ffscan"],
      meaning: ("any image or PDF", meaning))
  }

  private static func scan(_ result: Format, _ factor: Int64) -> Conversion {
    Conversion(
      "scan-\(result.name)", from: Format.images, to: result, arguments: ScanChanges.self, size: .guess(factor),
      programs: ["ffscan"], meaning: ("any photo of a page", "the page, straightened and cleaned"))
  }
}
