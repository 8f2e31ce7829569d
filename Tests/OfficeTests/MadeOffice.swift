import Catalogue
import Glibc
import TestSupport
import Testing
import WorkerKit

@testable import Office

/// Small office documents, and what is read of them.
enum MadeOffice {
  static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
  private static let open = "http://schemas.openxmlformats.org"
  private static let oasis = "urn:oasis:names:tc:opendocument:xmlns"

  static func archive(_ parts: [(String, String)]) -> [UInt8] {
    ZipFixture(parts.map { ZipFixtureEntry(Array($0.0.utf8), Array($0.1.utf8)) }).bytes()
  }

  static func links(_ links: [(id: String, kind: String, target: String)]) -> String {
    head + "<Relationships xmlns=\"\(open)/package/2006/relationships\">"
      + links.map { link in
        let mode = link.target.contains(":") ? " TargetMode=\"External\"" : ""
        return "<Relationship Id=\"\(link.id)\" Type=\"\(open)/officeDocument/2006/relationships/\(link.kind)\" "
          + "Target=\"\(link.target)\"\(mode)/>"
      }.joined() + "</Relationships>"
  }

  private static func package(_ main: String, _ parts: [(String, String)]) -> [UInt8] {
    archive([("[Content_Types].xml", "<x/>"), ("_rels/.rels", links([("a", "officeDocument", main)]))] + parts)
  }

  private static func spaces(_ prefix: String, _ name: String) -> String {
    "xmlns:\(prefix)=\"\(open)/\(name)/2006/main\" xmlns:a=\"\(open)/drawingml/2006/main\" "
      + "xmlns:r=\"\(open)/officeDocument/2006/relationships\""
  }

  static func word(
    _ body: String, links given: [(id: String, kind: String, target: String)] = [], _ parts: [(String, String)] = []
  ) -> [UInt8] {
    let spaces = spaces("w", "wordprocessingml")
    return package(
      "word/document.xml",
      [
        ("word/document.xml", head + "<w:document \(spaces)><w:body>\(body)</w:body></w:document>"),
        ("word/_rels/document.xml.rels", links(given)),
      ] + parts.map { ($0.0, $0.1.replacing("SPACES", with: spaces)) })
  }

  static func slides(_ slides: [String], notes: String? = nil) -> [UInt8] {
    let spaces = spaces("p", "presentationml")
    let ids = slides.indices.map { "<p:sldId r:id=\"s\($0)\"/>" }.joined()
    var parts = [
      ("ppt/presentation.xml", head + "<p:presentation \(spaces)><p:sldIdLst>\(ids)</p:sldIdLst></p:presentation>"),
      (
        "ppt/_rels/presentation.xml.rels",
        links(slides.indices.map { ("s\($0)", "slide", "slides/s\(slides.count - $0).xml") })
      ),
    ]
    for (index, slide) in slides.enumerated() {
      parts.append(("ppt/slides/s\(slides.count - index).xml", head + "<p:sld \(spaces)>\(slide)</p:sld>"))
    }
    if let notes {
      let last = "s\(slides.count).xml"
      parts.append(("ppt/slides/_rels/\(last).rels", links([("n", "notesSlide", "../notesSlides/n.xml")])))
      parts.append(("ppt/notesSlides/n.xml", head + "<p:notes \(spaces)>\(notes)</p:notes>"))
    }
    return package("ppt/presentation.xml", parts)
  }

  static func workbook(
    _ sheets: [(name: String, rows: String)], styles: String = "", strings: String = "", extra: String = ""
  ) -> [UInt8] {
    let space = "xmlns=\"\(open)/spreadsheetml/2006/main\" xmlns:r=\"\(open)/officeDocument/2006/relationships\""
    let list = sheets.indices.map { "<sheet name=\"\(sheets[$0].name)\" sheetId=\"\($0 + 1)\" r:id=\"s\($0)\"/>" }
    let parts = [
      ("xl/workbook.xml", head + "<workbook \(space)>\(extra)<sheets>\(list.joined())</sheets></workbook>"),
      (
        "xl/_rels/workbook.xml.rels",
        links(
          sheets.indices.map { ("s\($0)", "worksheet", "worksheets/\($0).xml") }
            + [("y", "styles", "styles.xml"), ("t", "sharedStrings", "sharedStrings.xml")])
      ),
      ("xl/styles.xml", head + "<styleSheet \(space)>\(styles)</styleSheet>"),
      ("xl/sharedStrings.xml", head + "<sst \(space)>\(strings)</sst>"),
    ]
    return package(
      "xl/workbook.xml",
      parts
        + sheets.indices.map {
          (
            "xl/worksheets/\($0).xml",
            head + "<worksheet \(space)><sheetData>\(sheets[$0].rows)</sheetData></worksheet>"
          )
        })
  }

  static func openDocument(_ type: String, _ content: String, styles: String = "") -> [UInt8] {
    let spaces = ["office", "text", "table", "style", "presentation"].map { "xmlns:\($0)=\"\(oasis):\($0):1.0\"" }
    let all =
      spaces.joined(separator: " ")
      + " xmlns:draw=\"\(oasis):drawing:1.0\" xmlns:fo=\"\(oasis):xsl-fo-compatible:1.0\" "
      + "xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
    return archive([
      ("mimetype", "application/vnd.oasis.opendocument.\(type)"),
      (
        "content.xml",
        head + "<office:document-content \(all)><office:automatic-styles>\(styles)</office:automatic-styles>"
          + "<office:body>\(content)</office:body></office:document-content>"
      ),
    ])
  }

  static func book(_ chapters: [String]) -> [UInt8] {
    let items = chapters.indices.map {
      "<item id=\"c\($0)\" href=\"c%20\($0).html\" media-type=\"application/xhtml+xml\"/>"
    }
    let spine = chapters.indices.reversed().map { "<itemref idref=\"c\($0)\"/>" }
    return archive(
      [
        ("mimetype", "application/epub+zip"),
        (
          "META-INF/container.xml",
          "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles>"
            + "<rootfile full-path=\"OPS/book.opf\"/></rootfiles></container>"
        ),
        (
          "OPS/book.opf",
          "<package xmlns=\"http://www.idpf.org/2007/opf\"><manifest>\(items.joined())</manifest>"
            + "<spine>\(spine.joined())</spine></package>"
        ),
      ] + chapters.enumerated().map { ("OPS/c \($0).html", "<html><body>\($1)</body></html>") })
  }

  // MARK: Reading

  enum Outcome: Equatable {
    case text(String)
    case failed(JobAnswer.Failure, String)
  }

  static func read(_ bytes: [UInt8], _ work: (JobInput, JobOutput) throws(JobFailure) -> Void) throws -> Outcome {
    let (source, result) = (try file(bytes), try file([]))
    defer { _ = close(source) }
    let output = JobOutput(descriptor: result, limit: 64 << 20)
    do throws(JobFailure) {
      try work(try JobInput(descriptor: source, offset: 0, size: Int64(bytes.count)), output)
    } catch { return .failed(error.failure, error.reason) }
    var text = [UInt8](repeating: 0, count: Int(try output.size()))
    let count = unsafe pread(result, &text, text.count, 0)
    try #require(count == text.count)
    return .text(String(decoding: text, as: UTF8.self))
  }

  /// What a document is as text, or in another form.
  static func text(of bytes: [UInt8], as form: String = "txt") throws -> Outcome {
    try read(bytes) { (input, output) throws(JobFailure) in
      _ = try OfficeDocument(input).write(as: form, to: output)
    }
  }

  static func sheet(_ index: Int, of bytes: [UInt8]) throws -> Outcome {
    try read(bytes) { (input, output) throws(JobFailure) in
      try OfficeDocument(input).write(sheet: index, to: output)
    }
  }

  static func page(_ bytes: [UInt8], as form: String = "txt") throws -> Outcome {
    try read(bytes) { (input, output) throws(JobFailure) in _ = try WebDocument(input).write(as: form, to: output) }
  }

  private static func file(_ bytes: [UInt8]) throws -> Int32 {
    var name = Array("/tmp/office.XXXXXX".utf8CString)
    let file = unsafe mkstemp(&name)
    try #require(file >= 0)
    _ = unsafe unlink(name)
    let count = unsafe write(file, bytes, bytes.count)
    try #require(count == bytes.count)
    return file
  }
}
