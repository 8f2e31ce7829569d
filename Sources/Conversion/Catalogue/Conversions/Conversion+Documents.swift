/// Conversions of PDFs.
extension Conversion {
  public static let documents: [Conversion] = [pages, compressed, text, reflowed, merged]

  /// Some of a PDF's pages. The result can be larger than expected: one page may contain most of the document, and its
  /// objects are no longer compressed together.
  public static let pages = {
    var conversion = Conversion(
      "pages", from: [.pdf], to: .pdf, as: .inView, arguments: PageSelection.self, listed: [.pdf], size: .guess(2),
      programs: ["ffpages", "ffconvert"],
      meaning: ("any PDF", "a PDF for each page; by name also `2-5.pdf`, `1,3,9-.pdf`"))
    conversion.comesInSeries = true
    return conversion.reducible(for: [.pdf])
  }()

  /// The document with smaller images.
  public static let compressed = {
    var conversion = Conversion(
      "compressed", from: [.pdf], to: .pdf, as: .stem, arguments: CompressionChanges.self, listed: [.pdf],
      size: .atMostSource, programs: ["ffconvert"],
      meaning: ("any `STEM.pdf`", "the same document with smaller images, 150 dpi and q60"))
    conversion.keepsWhatItCannotChange = true
    return conversion.reducible(for: [.pdf])
  }()

  /// A PDF's text in reading order. Text is a small part of most PDFs, but well compressed.
  public static let text = Conversion(
    "text", from: [.pdf], to: .plainText, size: .guess(8), programs: ["ffconvert"],
    meaning: ("any PDF", "its text in reading order"))

  /// A PDF's text as a reflowable page with images. The images are compressed less than in the PDF, and encoded as
  /// text.
  public static let reflowed = {
    var conversion = Conversion(
      "reflowed", from: [.pdf], to: .html, size: .guess(8), programs: ["ffconvert"],
      meaning: ("any PDF", "its text as a web page that reflows, with headings, lists, links and images"))
    // Each image causes another search of its page.
    conversion.slowness = 4
    // Office documents mark their headings themselves.
    conversion.isDirect = true
    return conversion
  }()

  /// One PDF made from several files, which are passed as a `Bundle`. Images become pages as they are, or decoded. Raw
  /// photos are excluded: most lie beside an image made from them. Documents that require layout are passed as PDFs.
  public static let merged = {
    var conversion = Conversion(
      "merged", from: [.pdf] + Format.images.filter { $0.family == .image }, to: .pdf, as: .folder, size: .guess(4),
      programs: ["ffconvert"],
      meaning: (
        "any folder with PDFs, images, texts or office documents", "all of them as one PDF, `file2` before `file10`"
      ))
    conversion.indirectSources = Set(Format.laidOut + [.html, .plainText, .markdown, .epub])
    return conversion.reducible(for: Format.commonImages + [.pdf])
  }()
}

extension Recipe {
  public static func pages(_ selection: PageSelection) -> Recipe { Recipe(verb: Conversion.pages.verb, selection) }
  public static let text = Recipe(verb: Conversion.text.verb)
  public static let merged = Recipe(verb: Conversion.merged.verb)
}
