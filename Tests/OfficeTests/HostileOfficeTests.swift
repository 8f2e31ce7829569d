import Catalogue
import Fuzzing
import TestSupport
import Testing

@testable import Office

/// Documents that were made to harm.
@Suite(.timeLimit(.minutes(5))) struct HostileOfficeTests {
  @Test func entitiesDoNotExpand() throws {
    let declared = """
      <!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">\
      <!ENTITY f SYSTEM "file:///etc/passwd">]>
      """
    for use in ["&b;", "&f;"] {
      let document = MadeOffice.archive([
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
          "content.xml",
          declared + "<o:document-content xmlns:o=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
            + "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><o:body><text:p>x\(use)</text:p></o:body>"
            + "</o:document-content>"
        ),
      ])
      guard case .failed(.damaged, let reason) = try MadeOffice.text(of: document) else {
        Issue.record("\(use) was read")
        return
      }
      #expect(reason.hasPrefix("has XML that is not well formed"), "\(reason)")
    }
  }

  @Test func depthAndSizeAreBounded() throws {
    func nested(_ names: String...) -> String {
      let count = 1900 / names.count
      return String(repeating: names.map { "<\($0)>" }.joined(), count: count)
        + String(repeating: names.reversed().map { "</\($0)>" }.joined(), count: count)
    }
    let deep = [nested("w:tbl", "w:tr", "w:tc"), nested("w:p", "w:txbxContent")].map { MadeOffice.word($0) }
    let open = [
      nested("text:h"), nested("text:list", "text:list-item"), nested("text:p", "text:note", "text:note-body"),
    ]
    .map { MadeOffice.openDocument("text", "<office:text>\($0)</office:text>") }
    for document in deep + open {
      guard case .failed(.limit, _) = try MadeOffice.text(of: document) else {
        Issue.record("hundreds of blocks in each other were read")
        return
      }
    }
    let page = String(repeating: "<table><tr><td>", count: 3000)
    guard case .failed(.limit, _) = try MadeOffice.page(Array(page.utf8)) else {
      Issue.record("3,000 tables in each other were read")
      return
    }
    // Far beyond what Deflate can reach.
    var bomb = ZipFixtureEntry("content.xml", ZipDeflate.zeros(4 << 20))
    bomb.claimedSize = 1 << 31
    let archive = ZipFixture(ZipFixtureEntry("mimetype", "application/vnd.oasis.opendocument.text"), bomb)
    guard case .failed = try MadeOffice.text(of: archive.bytes()) else {
      Issue.record("a bomb was read")
      return
    }
  }

  @Test func unsupportedDocumentsReportReason() throws {
    let compound: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] + Array(repeating: 0, count: 504)
    func entry(_ name: String) -> [UInt8] { (name + "\0").utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } }
    let encrypted = "is encrypted with a password in a way that is not supported"
    for name in ["EncryptedPackage", "ENCRYPTEDPACKAGE"] {
      #expect(try MadeOffice.text(of: compound + entry(name)) == .failed(.locked, encrypted))
    }
    #expect(
      try MadeOffice.text(of: compound)
        == .failed(.unsupported, "is in the format of Office before 2007, whose text is not read"))
    let other = try MadeOffice.text(of: MadeOffice.archive([("a", "b")]))
    #expect(other == .failed(.unsupported, "is not an office document"))
    let manifest =
      "<m:manifest xmlns:m=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"><m:encryption-data/></m:manifest>"
    let open = MadeOffice.archive([
      ("mimetype", "application/vnd.oasis.opendocument.text"), ("META-INF/manifest.xml", manifest),
      ("content.xml", "x"),
    ])
    #expect(try MadeOffice.text(of: open) == .failed(.locked, encrypted))
  }

  /// Each is read to some end: a text, or a reason.
  @Test func mutatedDocumentsAreReadOrRefused() throws {
    let seeds = [
      WordTests.letter, SheetTests.workbook, MadeOffice.book(["<p>a<table><tr><td>b</table>", "<ul><li>c"]),
      MadeOffice.slides(["<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"]),
      Array(
        "{\\rtf1{\\fonttbl{\\f0\\fcharset128 A;}}\\trowd\\intbl a\\cell\\row{\\footnote b}\\'e9\\u-8000?\\bin3 xyz}"
          .utf8),
      MadeOffice.openDocument(
        "text",
        "<office:text><text:list><text:list-item>"
          + "<text:p>x</text:p></text:list-item></text:list></office:text>"),
    ]
    var numbers = SeededNumbers(seed: 19)
    var read = 0
    for round in 0..<240 {
      let mutant = numbers.mutation(of: seeds[round % seeds.count])
      for form in ["txt", "html", "md"] {
        if case .text = try MadeOffice.text(of: mutant, as: form) { read += 1 }
      }
      _ = try MadeOffice.sheet(0, of: mutant)
    }
    #expect(read > 0 && read < 720, "\(read)")
  }
}
