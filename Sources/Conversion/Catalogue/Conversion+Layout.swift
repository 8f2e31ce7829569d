/// Conversions of documents by LibreOffice.
extension Conversion {
  public static let layouts =
    layouts(.pdf, of: Format.laidOut, listed: Format.laidOut, laidPages)
    + (Format.texts.flatMap { layouts($0, of: Format.texts, sameTexts) })
    + others(Format.workbooks, "XLSX, XLS, ODS") + others(Format.slides, "PPTX, PPT, ODP")

  private static let laidPages = (
    "DOCX, DOC, ODT, RTF, XLSX, XLS, ODS, PPTX, PPT, ODP, HTML, TXT", "its pages, as LibreOffice lays them out"
  )
  private static let sameTexts = ("DOCX, DOC, ODT, RTF, HTML, TXT", "the same document, by LibreOffice")

  /// The verb of the conversion whose program tests passwords for this conversion's sources.
  public var opener: String {
    ["ffoffice", "fflayout"].contains { programs.contains($0) } ? "layout-\(Format.pdf.name)" : Self.pages.verb
  }

  /// Returns conversions between each pair of these formats.
  private static func others(_ formats: [Format], _ names: String) -> [Conversion] {
    formats.map { layout("layout", formats, $0, (names, "the same document, by LibreOffice")) }
  }

  /// Returns separate conversions for HTML and plain text, which are recognized only by their names.
  private static func layouts(
    _ result: Format, of formats: [Format], listed: [Format] = [], _ meaning: (sources: String, result: String)
  ) -> [Conversion] {
    [
      layout("layout", formats, result, listed: listed, meaning), layout("pagelayout", [.html], result, meaning),
      layout("textlayout", [.plainText], result, meaning),
    ]
  }

  private static func layout(
    _ kind: String, _ sources: [Format], _ result: Format, listed: [Format] = [],
    _ meaning: (sources: String, result: String)
  ) -> Conversion {
    var conversion = Conversion(
      "\(kind)-\(result.name)", from: sources.filter { $0 != result }, to: result, arguments: LayoutState.self,
      listed: listed, size: .guess(10), programs: ["fflayout"], meaning: meaning)
    // The text of older formats is extracted by way of the last three.
    conversion.leadsOn = result == .pdf || kind == "layout" && [.odt, .ods, .odp].contains(result)
    return conversion
  }
}
