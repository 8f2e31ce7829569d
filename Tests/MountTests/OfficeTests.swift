import TestSupport
import Testing

/// Office documents through a mount, read by the real worker.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OfficeTests {
  private static func links(_ kind: String, _ target: String) -> String {
    """
    <Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" \
    Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/\(kind)" Target="\(target)"/>\
    </Relationships>
    """
  }

  private static let types = """
    <Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" \
    ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" \
    ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>
    """

  static func letter(_ text: String) -> ZipFixture {
    let space = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\""
    return ZipFixture(
      ZipFixtureEntry("[Content_Types].xml", types),
      ZipFixtureEntry("_rels/.rels", links("officeDocument", "word/document.xml")),
      ZipFixtureEntry(
        "word/document.xml",
        "<w:document \(space)><w:body><w:p><w:r><w:t>\(text)</w:t></w:r></w:p></w:body></w:document>"))
  }

  private static func workbook(_ names: [String]) -> ZipFixture {
    let oasis = "urn:oasis:names:tc:opendocument:xmlns"
    let sheets = names.map { name in
      "<table:table table:name=\"\(name)\"><table:table-row><table:table-cell><text:p>1,5 \(name.prefix(1))</text:p>"
        + "</table:table-cell></table:table-row></table:table>"
    }
    let spaces = ["office", "table", "text"].map { "xmlns:\($0)=\"\(oasis):\($0):1.0\"" }.joined(separator: " ")
    return ZipFixture(
      ZipFixtureEntry("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
      ZipFixtureEntry(
        "content.xml",
        "<office:document-content \(spaces)><office:body><office:spreadsheet>\(sheets.joined())</office:spreadsheet>"
          + "</office:body></office:document-content>"))
  }

  @Test func sheetNamesContainNoLineBreaks() async throws {
    try await withScratch { scratch in
      try scratch.write("odd.ods", Self.workbook(["two&#10;lines", "next"]))
      try await withMount(scratch) { mount in
        let said = try await mount.shell("cd odd.ods.sheets; ls | wc -l; cat next.csv", scratch)
        #expect(said == "2\n\"1,5 n\"\n")
      }
    }
  }

  /// The tables of character sets are loaded before the converter is shut in.
  @Test func pagesInDeclaredCharsetsAreRead() async throws {
    let pages: [(charset: String, bytes: [UInt8], text: String)] = [
      ("big5", [0xa4, 0xa4, 0xa4, 0xe5], "中文"), ("euc-jp", [0xc6, 0xfc, 0xcb, 0xdc], "日本"),
      ("johab", [0xd0, 0x65, 0x8a, 0x82], "한국"), ("tis-620", [0xe4, 0xb7, 0xc2], "ไทย"),
      ("iso-8859-6", [0xe3, 0xd1], "كر"), ("iso-8859-8", [0xf9, 0xec], "של"),
    ]
    try await withScratch { scratch in
      for page in pages {
        try scratch.write("\(page.charset).html", Array("<meta charset=\(page.charset)><p>".utf8) + page.bytes)
      }
      try await withConverter(scratch) { (mount) async throws in
        for page in pages {
          #expect(try await run("cat", "\(mount.mountpoint)/\(page.charset).html.as-txt").text == page.text + "\n")
        }
      }
    }
  }

  /// The files of sheets end in `.csv`: another name is known not to exist without reading the workbook.
  @Test func otherNamesThanOfSheetsStartNoWorker() async throws {
    try await withScratch { scratch in
      try scratch.write("book.ods", Self.workbook(["Umsatz"]))
      try await withConverter(scratch) { mount in
        let said = try await mount.shell(
          """
          cd book.ods.sheets; stat Umsatz Umsatz.txt .hidden csv 2>&1 | grep -c 'No such file'; workers | wc -l
          stat -c %F Umsatz.csv; workers | wc -l
          """, scratch)
        #expect(said == "4\n0\nregular file\n1\n")
      }
    }
  }

  @Test func documentsHaveTextAndWorkbooksHaveSheetViews() async throws {
    try await withScratch { scratch in
      try scratch.write("letter.docx", Self.letter("Dear Anna"))
      try scratch.write("letter.bin", Self.letter("By its content"))
      try scratch.write(
        "in.zip", ZipFixture(ZipFixtureEntry("deep.docx", Self.letter("In an archive").bytes())))
      try scratch.write("book.ods", Self.workbook(["Umsatz", "a/b", "..", "Umsatz", ""]))
      try scratch.write("page.html", "<h1>Head</h1><p>text")
      try scratch.write("none.docx", "no archive at all, and far too short to be one")
      let name = "EncryptedPackage\0".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      let mark: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
      try scratch.write("locked.docx", mark + Array(repeating: 0, count: 504) + name)
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { ls | grep -v as-pdf | tr '\\n' ' '; echo
          cat letter.docx.as-txt letter.bin.as-txt in.zip.contents/deep.docx.as-txt; cat letter.docx.as.md
          grep -c '<p>Dear Anna</p>' letter.docx.as-html; cat page.html.as-md
          ls -1 book.ods.sheets; cat book.ods.sheets/Umsatz.csv
          cat "book.ods.sheets/Umsatz (1).csv" book.ods.sheets/a?b.csv
          stat -c %s book.ods.sheets/Umsatz.csv; cat book.ods.sheets/Umsatz.csv.as-txt; ls book.ods.sheets/none.csv
          ls letter.docx.sheets; for f in none locked; do cat $f.docx.as-txt
          getfattr --only-values -n user.ffmount.error $f.docx.as-txt; echo; done; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, limit: 60)
        #expect(
          said.text == """
            book.ods in.zip in.zip.contents letter.bin letter.docx locked.docx none.docx page.html 
            Dear Anna
            By its content
            In an archive
            Dear Anna
            1
            # Head

            text
            ? (1).csv
            ?.csv
            Umsatz (1).csv
            Umsatz.csv
            a?b.csv
            "1,5 U"
            "1,5 U"
            "1,5 a"
            8
            1,5 U
            -----
            ls: cannot access 'book.ods.sheets/none.csv': No such file or directory
            ls: cannot access 'letter.docx.sheets': No such file or directory
            cat: none.docx.as-txt: Input/output error
            none.docx: is not a readable office document (expected an end of central directory record in the last 46 bytes, \
            found none)
            cat: locked.docx.as-txt: Permission denied
            locked.docx: is encrypted with a password in a way that is not supported

            """)
      }
    }
  }

  @Test func attachedDocumentsAreFound() async throws {
    try await withScratch { scratch in
      try scratch.write("a.docx", Self.letter("herring 4711"))
      _ = try await shell("mkdir \"$1/scans\" && mv \"$2/a.docx\" \"$1/scans/\"", scratch.path, scratch.source)
      let archive = scratch.source + "/in.mbox"
      try await script(
        "make_scanned_mail.py", scratch.path + "/scans", archive, "letter", "a.docx", "nothing", "-")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "LC_ALL": "C"]
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 60)
      }
      #expect(try await ffmount("search", archive, "herring").lines.isEmpty)
      let read = try await ffmount("index", "--search", "--attachment-text", scratch.source)
      #expect(read.status == 0, "\(read.errors)")
      #expect(try await ffmount("search", archive, "herring 4711").lines.count == 1)
      // The views of a Maildir are beside it.
      let maildir = scratch.path + "/Maildir"
      try await script("make_scanned_mail.py", scratch.path + "/scans", scratch.path + "/one", "letter", "a.docx")
      _ = try await shell(
        "mkdir -p \"$1\"/{cur,new,tmp}; tail -n +2 \"$2\" > \"$1/cur/1.x:2,S\"", maildir, scratch.path + "/one")
      let own = try await ffmount("index", "--search", "--attachment-text", maildir)
      #expect(own.status == 0, "\(own.errors)")
      #expect(try await ffmount("search", maildir, "herring 4711").lines.count == 1)
      // Mailboxes in folders of the one that is named.
      let nested = scratch.path + "/tree/inner"
      _ = try await shell(
        "mkdir -p \"$1\"; mv \"$2\" \"$1/in.mbox\"; mv \"$3\" \"$1/Maildir\"", nested, archive, maildir)
      let below = try await ffmount("index", "--search", "--attachment-text", scratch.path + "/tree")
      #expect(below.status == 0 && below.errors.isEmpty, "\(below.errors)")
      #expect(try await ffmount("search", nested + "/in.mbox", "herring 4711").lines.count == 1)
      #expect(try await ffmount("search", nested + "/Maildir", "herring 4711").lines.count == 1)
    }
  }
}
