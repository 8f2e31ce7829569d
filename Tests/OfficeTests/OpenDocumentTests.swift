import Testing

@testable import Office

/// ODT, ODP and ODS, slides and books.
@Suite struct OpenDocumentTests {
  @Test func openDocumentTextIsRead() throws {
    let styles = """
      <text:list-style style:name="L">\
      <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>\
      <text:list-level-style-number text:level="2" style:num-format="i" style:num-suffix=")" text:display-levels="2"/>\
      </text:list-style><style:style style:name="B" style:family="text">\
      <style:text-properties fo:font-weight="bold"/></style:style>
      """
    let content = """
      <office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
      <text:h text:outline-level="3">Head</text:h>\
      <text:p>a  b<text:s text:c="2"/>c<text:tab/><text:span text:style-name="B">d</text:span>\
      <text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>below</text:p></text:note-body>\
      </text:note>\
      <office:annotation><dc:creator>Bo</dc:creator><dc:date>2024</dc:date><text:p>hm</text:p></office:annotation>\
      </text:p>\
      <text:list text:style-name="L"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in</text:p>\
      </text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p><text:p>more</text:p>\
      </text:list-item>\
      </text:list><table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>w</text:p>\
      </table:table-cell><table:covered-table-cell/><table:table-cell><text:p>x</text:p></table:table-cell>\
      </table:table-row>\
      </table:table><text:p><text:a xlink:href="https://a.example">link</text:a><text:line-break/>end</text:p>\
      </office:text>
      """
    let document = MadeOffice.openDocument("text", content, styles: styles)
    let text = """
      Head

      a b  c\td[1][c1]

      1. one
        1.i) in
      2. two
      more

      w\t\tx

      link
      end

      [1] below
      [c1] Bo: hm

      """
    #expect(try MadeOffice.text(of: document) == .text(text))
    guard case .text(let markdown) = try MadeOffice.text(of: document, as: "md") else {
      Issue.record("no Markdown")
      return
    }
    #expect(markdown.hasPrefix("### Head\n\na b  c\t**d**[^1][^c1]\n"), "\(markdown)")
    #expect(markdown.contains("[link](https://a.example)  \nend\n"), "\(markdown)")
  }

  /// A list that continues one goes on with the numbers of its style, or of the list that it names, whatever is between.
  @Test func listNumberingContinuesAndHiddenTextIsOmitted() throws {
    func list(_ attributes: String, _ item: String) -> String {
      "<text:list \(attributes)><text:list-item>\(item)</text:list-item></text:list>"
    }
    func level(_ format: String) -> String {
      "<text:list-style style:name=\"\(format)\"><text:list-level-style-number text:level=\"1\" "
        + "style:num-format=\"\(format)\"/></text:list-style>"
    }
    let hidden = "<style:text-properties text:display=\"none\"/></style:style>"
    let styles =
      level("1") + level("A") + "<style:style style:name=\"H\" style:family=\"paragraph\">\(hidden)"
      + "<style:style style:name=\"C\" style:family=\"text\">\(hidden)"
    let on = "text:continue-numbering=\"true\""
    let note =
      "<text:note><text:note-citation>1</text:note-citation><text:note-body>\(list("text:style-name=\"1\"", "<text:p>in</text:p>"))"
      + "</text:note-body></text:note>"
    let content =
      list("text:style-name=\"1\" xml:id=\"x\"", "<text:p>a\(note)</text:p>")
      + list("text:style-name=\"A\" \(on)", "<text:p>b</text:p>")
      + list("text:style-name=\"1\" \(on)", "<text:p>c</text:p>")
      + list("text:style-name=\"A\" text:continue-list=\"x\"", "<text:p>d</text:p>")
      + list("text:style-name=\"1\" text:continue-numbering=\"false\"", "<text:p>e</text:p>")
      + "<text:p text:style-name=\"H\">gone</text:p><text:p>f<text:span text:style-name=\"C\">gone</text:span>"
      + "<text:hidden-text text:is-hidden=\"true\">gone</text:hidden-text><text:hidden-text>g</text:hidden-text></text:p>"
    let document = MadeOffice.openDocument("text", "<office:text>\(content)</office:text>", styles: styles)
    #expect(
      try MadeOffice.text(of: document) == .text("1 a[1]\nA b\n2 c\nC d\n1 e\n\nfg\n\n[1] 1 in\n"))
  }

  private static func shape(_ kind: String, _ paragraphs: String) -> String {
    "<p:sp><p:nvSpPr><p:nvPr><p:ph type=\"\(kind)\"/></p:nvPr></p:nvSpPr><p:txBody>\(paragraphs)</p:txBody></p:sp>"
  }

  private static func line(_ text: String, _ level: Int = 0) -> String {
    "<a:p><a:pPr lvl=\"\(level)\"/><a:r><a:t>\(text)</a:t></a:r></a:p>"
  }

  @Test func notesWithoutMarksAreNumbered() throws {
    let notes = ["one", "two", "three"].map { text in
      "<text:note>\(text == "two" ? "<text:note-citation>*</text:note-citation>" : "")"
        + "<text:note-body><text:p>\(text)</text:p></text:note-body></text:note>"
    }
    let content = "<office:text><text:p>a\(notes[0])b\(notes[1])c\(notes[2])</text:p></office:text>"
    let text = "a[1]b[*]c[2]\n\n[1] one\n[*] two\n[2] three\n"
    #expect(try MadeOffice.text(of: MadeOffice.openDocument("text", content)) == .text(text))
  }

  @Test func slidesAreReadInOrderWithNotes() throws {
    let first =
      Self.shape("title", Self.line("First")) + Self.shape("body", Self.line("a") + Self.line("b", 1))
      + Self.shape("sldNum", Self.line("1"))
    let table = """
      <a:tbl><a:tr><a:tc><a:txBody>\(Self.line("p"))</a:txBody></a:tc><a:tc><a:txBody>\(Self.line("q"))</a:txBody>\
      </a:tc></a:tr>\
      </a:tbl>
      """
    let document = MadeOffice.slides(
      [first, Self.shape("title", Self.line("Second")) + table], notes: Self.shape("body", Self.line("Say this.")))
    #expect(
      try MadeOffice.text(of: document)
        == .text("First\n\n• a\n  • b\n\nSay this.\n\nSecond\n\np\tq\n"))
    let page =
      "<draw:page draw:name=\"p\"><draw:frame presentation:class=\"title\"><draw:text-box><text:p>T</text:p>"
      + "</draw:text-box></draw:frame><draw:frame><draw:text-box><text:list><text:list-item><text:p>i</text:p>"
      + "</text:list-item></text:list></draw:text-box></draw:frame></draw:page>"
    let open = MadeOffice.openDocument("presentation", "<office:presentation>\(page)</office:presentation>")
    #expect(try MadeOffice.text(of: open, as: "md") == .text("## T\n\n- i\n"))
  }

  @Test func booksAreReadInSpineOrder() throws {
    let book = MadeOffice.book(["<p>last</p>", "<h1>Start</h1><p>of&nbsp;it</p><script>no</script>"])
    #expect(try MadeOffice.text(of: book) == .text("Start\n\nof\u{a0}it\n\nlast\n"))
  }

  @Test func htmlPagesAreReadInAnyEncoding() throws {
    let page = """
      <html><head><title>no</title><meta charset="windows-1251"></head><body><h1>A</h1>text <b>b</b>\n c<ul>\
      <li>x<li>y</ul>\
      <table><tr><th>h<td>d</table><pre> p\n  q</pre><ol start=3><li>z</ol><p hidden>no</p>&euro;
      """
    let shown = "A\n\ntext b c\n\n• x\n• y\n\nh\td\n\n p\n  q\n\n3. z\n\n€\n"
    #expect(try MadeOffice.page(Array(page.utf8)) == .text(shown))
    let russian = Array("<meta charset=windows-1251><p>".utf8) + [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]
    #expect(try MadeOffice.page(russian) == .text("Привет\n"))
    #expect(
      try MadeOffice.page([0xff, 0xfe] + Array("<p>é".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        == .text("é\n"))
  }
}
