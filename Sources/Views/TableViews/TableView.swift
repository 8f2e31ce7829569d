package import Bytes
package import Catalogue
package import Jobs
package import Tables
package import Tree

/// `NAME.csv.as-html`, `NAME.csv.as-txt`, `NAME.json.as-txt`, `NAME.ics.as-txt`, `NAME.vcf.as-csv`, by name, or as
/// `NAME.csv.as.html`: readable formats of tables, JSON, calendars and cards, generated as they are read.
///
/// A table is recognized only by its name, because its bytes do not identify it.
package struct TableView: View {
  private let format: Format
  package let kind = Kind.file
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let form: TableForm
  private let known: ResultSizes
  private let memory: RewrittenText.Memory

  private static let contents: [FileExtension: TableForm.Content] = [
    "csv": .table(delimiter: UInt8(ascii: ",")), "tsv": .table(delimiter: UInt8(ascii: "\t")),
    "tab": .table(delimiter: UInt8(ascii: "\t")), "json": .json, "geojson": .json, "ndjson": .jsonLines,
    "jsonl": .jsonLines,
    "ics": .calendar, "ifb": .calendar, "vcs": .calendar, "vcf": .contacts, "vcard": .contacts,
  ]

  package var descriptions: [ViewDescription] {
    let tables = Self.names { $0.isTable }
    switch form {
    case .html:
      return [ViewDescription("NAME.as-html", sources: tables, "the table as a page with a header that stays visible")]
    case .text:
      return [
        ViewDescription("NAME.as-txt", sources: tables, "the table in aligned columns"),
        ViewDescription("NAME.as-txt", sources: Self.names { !$0.isTable && !$0.isCards }, "the JSON indented"),
        ViewDescription(
          "NAME.as-txt", sources: Self.names(\.isCards), "appointments, tasks and contacts as readable text"),
      ]
    case .csv: return [ViewDescription("NAME.as-csv", sources: Self.names(\.isContacts), "a row for each contact")]
    }
  }

  private static func names(_ isOf: (TableForm.Content) -> Bool) -> String {
    contents.filter { isOf($0.value) }.map { "`*.\($0.key.text)`" }.sorted().joined(separator: ", ")
  }

  package init(_ form: TableForm, _ known: ResultSizes, _ memory: RewrittenText.Memory) {
    self.form = form
    self.known = known
    self.memory = memory
    format =
      switch form {
      case .html: .html
      case .text: .plainText
      case .csv: .csv
      }
  }

  package var name: String { "as-\(format.name)" }
  package var formats: [Format] { [format] }
  package var endings: Set<FileExtension> { FormatSuffix.endings(of: format) }

  package func listedName(beside file: FileName) -> FileName { FormatSuffix.name.name(of: file, as: format) }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let (source, asksFor) = FormatSuffix.split(name), asksFor(format) else { return [] }
    return [ViewRequest(source: FileName(source))]
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard source.item.knownHead == nil, let fileExtension = source.name.fileExtension,
      let content = Self.contents[fileExtension]
    else { return nil }
    let isMade =
      switch form {
      case .text: true
      case .html: content.isTable
      case .csv: content.isContacts
      }
    guard isMade else { return nil }
    let item = TableFile(
      SourceState(source), form, content, view: name, known, memory)
    return LookupResult(item, try item.attributes(blocking))
  }
}

extension TableForm.Content {
  fileprivate var isTable: Bool {
    if case .table = self { true } else { false }
  }

  fileprivate var isContacts: Bool {
    if case .contacts = self { true } else { false }
  }

  fileprivate var isCards: Bool {
    if case .calendar = self { true } else { isContacts }
  }
}
