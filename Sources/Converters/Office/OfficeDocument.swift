internal import Bytes
internal import Catalogue
public import WorkerKit

/// An office document of any kind, with its text and its sheets.
public final class OfficeDocument {
  private enum Content {
    case word(WordDocument)
    case slides(Presentation)
    case sheets(any Spreadsheet)
    case open(OpenDocument)
    case book(Book)
    case rich(JobInput)
  }

  private let content: Content
  private let package: OfficePackage?

  /// Opens a document and determines its kind.
  public init(_ input: JobInput) throws(JobFailure) {
    if input.starts(with: Array("{\\rt".utf8)) {
      package = nil
      content = .rich(input)
      return
    }
    if input.starts(with: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) { throw Self.refusal(ofCompound: input) }
    let package = try OfficePackage(input)
    self.package = package
    content = try Self.content(package)
  }

  private static func content(_ package: OfficePackage) throws(JobFailure) -> Content {
    if let type = package.bytes("mimetype", upTo: 256).map({ String(decoding: $0, as: UTF8.self) }) {
      if type.hasPrefix("application/epub+zip") { return .book(Book(package)) }
      try refuseIfEncrypted(package)
      if type.contains("opendocument.spreadsheet") { return .sheets(try OpenSheets(package)) }
      if type.contains("opendocument") { return .open(OpenDocument(package)) }
    }
    guard let main = try package.target("officeDocument", of: "") else {
      // The document does not declare its kind.
      if !package.names(in: "META-INF").isEmpty, try package.part("content.xml") != nil {
        return .open(OpenDocument(package))
      }
      throw JobFailure(.unsupported, "is not an office document")
    }
    switch main.split(separator: "/").first {
    case "xl":
      guard main.hasSuffix(".xml") else { throw JobFailure(.unsupported, "is a workbook in binary form (XLSB)") }
      return .sheets(try Workbook(package, main: main))
    case "ppt": return .slides(Presentation(package, main: main))
    default: return .word(try WordDocument(package, main: main))
    }
  }

  private static func refuseIfEncrypted(_ package: OfficePackage) throws(JobFailure) {
    guard let reader = try package.reader("META-INF/manifest.xml") else { return }
    while let event = try reader.next() {
      if case .start(let element) = event, element.name == "manifest:encryption-data" { throw OfficeKind.locked }
    }
  }

  /// Returns the reason why a compound file is not read. It is an encrypted document, or one from before 2007.
  private static func refusal(ofCompound input: JobInput) -> JobFailure {
    OfficeKind.hasEntry("EncryptedPackage", in: input)
      ? OfficeKind.locked
      : JobFailure(.unsupported, "is in the format of Office before 2007, whose text is not read")
  }

  /// Writes the text in an output format. Returns false if there is none of that name.
  public func write(as name: String, to output: JobOutput) throws(JobFailure) -> Bool {
    guard let form = DocumentForm(rawValue: name) else { return false }
    let package = package
    let writer = try form.writer(to: DocumentTextOutput(output), title: "") { path in
      package?.bytes(path, upTo: 16 << 20)
    }
    switch content {
    case .word(let document): try document.read(into: writer)
    case .slides(let document): try document.read(into: writer)
    case .sheets(let document): try document.read(into: writer)
    case .open(let document): try document.read(into: writer)
    case .book(let document): try document.read(into: writer)
    case .rich(let input):
      var document = RichTextDocument()
      try document.read(input, into: writer)
    }
    try writer.finish()
    return true
  }

  /// The names of the sheets, in order. `nil` if the document is not a spreadsheet.
  public var sheetNames: [String]? { if case .sheets(let document) = content { document.names } else { nil } }

  /// Writes a sheet as CSV.
  ///
  /// - Parameter index: from 0.
  public func write(sheet index: Int, to output: JobOutput) throws(JobFailure) {
    guard case .sheets(let document) = content, document.names.indices.contains(index) else {
      throw JobFailure(.absent, "has no such sheet")
    }
    let writer = CSVWriter(DocumentTextOutput(output))
    try document.read(sheet: index, into: writer)
    try writer.finish()
  }
}
