/// Conversions of office documents without an office suite.
extension Conversion {
  public static let office: [Conversion] = [
    document(
      .plainText, 20, "its text: a line for each paragraph, tabs between the cells of a table, notes at the end"),
    document(.html, 40, "its text as a web page, or as Markdown"),
    document(.markdown, 40, "its text as a web page, or as Markdown"),
    page(.plainText), page(.markdown), note(.plainText), note(.html), sheets, sheet, message,
  ]

  private static func document(_ result: Format, _ factor: Int64, _ meaning: String) -> Conversion {
    var conversion = Conversion(
      "office-\(result.name)", from: Format.office, to: result, size: .guess(factor), programs: ["ffoffice"],
      meaning: ("DOCX, ODT, RTF, PPTX, ODP, XLSX, ODS, EPUB", meaning))
    // The pages of a book are laid out from its text.
    conversion.leadsOn = result == .html
    return conversion
  }

  private static func page(_ result: Format) -> Conversion {
    Conversion(
      "page-\(result.name)", from: [.html], to: result, size: .guess(2), programs: ["ffoffice"],
      meaning: ("any web page", "its text, plain or as Markdown"))
  }

  private static func note(_ result: Format) -> Conversion {
    var conversion = Conversion(
      "markdown-\(result.name)", from: [.markdown], to: result, size: .guess(4), programs: ["ffoffice"],
      meaning: ("Markdown", "its text, plain or as a web page"))
    conversion.leadsOn = result == .html
    return conversion
  }

  /// The message as RFC 5322: headers, texts and attachments.
  public static let message = Conversion(
    "outlook-eml", from: [.msg], to: .eml, size: .guess(2), programs: ["ffoffice"],
    meaning: ("MSG (Outlook)", "the same message in the standard format (RFC 5322)"))

  /// The names of a workbook's sheets, one per line.
  public static let sheets = Conversion(
    "sheets", from: [.xlsx, .ods], to: .plainText, as: .inView, size: .guess(1), programs: ["ffoffice"],
    meaning: ("XLSX, ODS", "the names of its sheets"))

  /// One sheet of a workbook, by its number.
  public static let sheet = Conversion(
    "sheet", from: [.xlsx, .ods], to: .csv, as: .inView, arguments: PageSelection.self, size: .guess(20),
    programs: ["ffoffice"], meaning: ("XLSX, ODS", "a CSV file for each sheet, with the displayed values"))
}

extension Recipe {
  public static let sheets = Recipe(verb: Conversion.sheets.verb)

  /// Returns the recipe for one sheet.
  ///
  /// - Parameter number: The number of the sheet, from 1.
  public static func sheet(_ number: Int) -> Recipe {
    Recipe(verb: Conversion.sheet.verb, PageSelection(page: number))
  }
}
