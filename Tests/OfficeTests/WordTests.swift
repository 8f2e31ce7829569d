import Testing

@testable import Office

/// DOCX and RTF as text, as a page and as Markdown.
@Suite struct WordTests {
  private static func paragraph(_ text: String, _ properties: String = "") -> String {
    "<w:p><w:pPr>\(properties)</w:pPr><w:r><w:t xml:space=\"preserve\">\(text)</w:t></w:r></w:p>"
  }

  private static func item(_ text: String, _ list: Int, _ level: Int = 0) -> String {
    paragraph(text, "<w:numPr><w:ilvl w:val=\"\(level)\"/><w:numId w:val=\"\(list)\"/></w:numPr>")
  }

  private static func level(_ number: Int, _ format: String, _ text: String) -> String {
    "<w:lvl w:ilvl=\"\(number)\"><w:start w:val=\"1\"/><w:numFmt w:val=\"\(format)\"/>"
      + "<w:lvlText w:val=\"\(text)\"/></w:lvl>"
  }

  private static let numbering =
    "<w:numbering SPACES><w:abstractNum w:abstractNumId=\"7\">"
    + level(0, "decimal", "%1.") + level(1, "lowerLetter", "%1.%2)")
    + "</w:abstractNum><w:abstractNum w:abstractNumId=\"8\">\(level(0, "bullet", "·"))</w:abstractNum>"
    + "<w:num w:numId=\"1\"><w:abstractNumId w:val=\"7\"/></w:num>"
    + "<w:num w:numId=\"2\"><w:abstractNumId w:val=\"7\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"1\"/>"
    + "</w:lvlOverride></w:num><w:num w:numId=\"3\"><w:abstractNumId w:val=\"8\"/></w:num></w:numbering>"

  private static let styles = """
    <w:styles SPACES><w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 2"/></w:style>\
    <w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="own"/><w:basedOn w:val="H"/></w:style></w:styles>
    """

  private static let notes = """
    <w:footnotes SPACES><w:footnote w:id="0" w:type="separator"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r>\
    <w:t>Below.</w:t></w:r></w:p></w:footnote></w:footnotes>
    """

  private static let comments = """
    <w:comments SPACES><w:comment w:id="5" w:author="Anna"><w:p><w:r><w:t>Sure?</w:t></w:r></w:p></w:comment>\
    </w:comments>
    """

  static let letter = MadeOffice.word(
    paragraph("Offer", "<w:pStyle w:val=\"Sub\"/>")
      + item("one", 1) + item("deep", 1, 1) + item("deeper", 1, 1) + item("two", 1) + item("again", 2)
      + item("dot", 3)
        + """
        <w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Bold</w:t></w:r><w:r><w:t xml:space="preserve"> and </w:t></w:r>\
        <w:hyperlink r:id="l"><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r>\
        <w:ins><w:r><w:t>, new</w:t></w:r></w:ins><w:del><w:r><w:delText>, old</w:delText></w:r></w:del>\
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r><w:r><w:commentReference w:id="5"/></w:r></w:p>\
        <w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r>\
        <w:instrText>HYPERLINK "https://b.example/"</w:instrText></w:r>\
        <w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>field</w:t></w:r><w:r>\
        <w:fldChar w:fldCharType="end"/></w:r>\
        <w:r><w:t> end</w:t></w:r></w:p>\
        <w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc><w:p><w:r><w:t>A|a</w:t></w:r></w:p></w:tc>\
        <w:tc><w:p><w:r><w:t>B</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>\
        <w:p><w:r><w:t>x</w:t></w:r></w:p><w:p><w:r><w:t>y &lt; z</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:sectPr/>
        """,
    links: [
      ("n", "numbering", "numbering.xml"), ("s", "styles", "styles.xml"), ("f", "footnotes", "footnotes.xml"),
      ("c", "comments", "comments.xml"), ("l", "hyperlink", "https://a.example/?q=1&amp;r=2"),
    ],
    [
      ("word/numbering.xml", numbering), ("word/styles.xml", styles), ("word/footnotes.xml", notes),
      ("word/comments.xml", comments),
    ])

  @Test func wordDocumentIsReadAsText() throws {
    let text = """
      Offer

      1. one
        1.a) deep
        1.b) deeper
      2. two
      1. again
      • dot

      Bold and here[1], new[c1]

      field end

      A|a\tB
      x y < z

      [1] Below.
      [c1] Anna: Sure?

      """
    #expect(try MadeOffice.text(of: Self.letter) == .text(text))
  }

  @Test func wordDocumentIsReadAsMarkdown() throws {
    let text = """
      ## Offer

      1. one
          - 1.a) deep
          - 1.b) deeper
      2. two
      1. again
      - dot

      **Bold** and [here](https://a.example/?q=1&r=2)[^1], new[^c1]

      [field](https://b.example/) end

      | A\\|a | B |
      | --- | --- |
      | x y \\< z |  |

      [^1]: Below.

      [^c1]: Anna: Sure?

      """
    let read = try MadeOffice.text(of: Self.letter, as: "md")
    #expect(read == .text(text))
  }

  @Test func wordDocumentIsReadAsHTML() throws {
    guard case .text(let page) = try MadeOffice.text(of: Self.letter, as: "html") else {
      Issue.record("no page")
      return
    }
    for part in [
      "<h2>Offer</h2>", "<dd>1.a) deep</dd>", "<b>Bold</b> and <a href=\"https://a.example/?q=1&amp;r=2\">here</a>",
      "<tr><th>A|a</th><th>B</th></tr>", "<td colspan=\"2\"><p>x</p>\n<p>y &lt; z</p>\n</td>",
      "<div id=\"note-1\"><sup>1</sup>\n<p>Below.</p>",
    ] {
      #expect(page.contains(part), "\(part) in \(page)")
    }
  }

  /// A level may show all numbers in it as decimal.
  @Test(arguments: [("", "1.1"), ("w:val=\"1\"", "1.1"), ("w:val=\"0\"", "I.1"), ("w:val=\"false\"", "I.1")])
  func legalNumbersAreDecimal(_ attribute: String, _ label: String) throws {
    let legal = Self.level(1, "decimal", "%1.%2").replacing("<w:lvlText", with: "<w:isLgl \(attribute)/><w:lvlText")
    let numbering =
      "<w:numbering SPACES><w:abstractNum w:abstractNumId=\"7\">\(Self.level(0, "upperRoman", "%1."))\(legal)"
      + "</w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId w:val=\"7\"/></w:num></w:numbering>"
    let document = MadeOffice.word(
      Self.item("one", 1) + Self.item("deep", 1, 1), links: [("n", "numbering", "numbering.xml")],
      [("word/numbering.xml", numbering)])
    #expect(try MadeOffice.text(of: document) == .text("I. one\n  \(label) deep\n"))
  }

  /// The list and the level of a style, in either order.
  @Test func listsOfStylesAreNumbered() throws {
    let (list, level) = ("<w:numId w:val=\"1\"/>", "<w:ilvl w:val=\"1\"/>")
    let styles = [("A", list), ("B", list + level), ("C", level + list)].map { id, number in
      "<w:style w:type=\"paragraph\" w:styleId=\"\(id)\"><w:pPr><w:numPr>\(number)</w:numPr></w:pPr></w:style>"
    }
    let body = ["A", "B", "C"].map { Self.paragraph($0, "<w:pStyle w:val=\"\($0)\"/>") }.joined()
    let document = MadeOffice.word(
      body, links: [("n", "numbering", "numbering.xml"), ("s", "styles", "styles.xml")],
      [("word/numbering.xml", Self.numbering), ("word/styles.xml", "<w:styles SPACES>\(styles.joined())</w:styles>")])
    #expect(try MadeOffice.text(of: document) == .text("1. A\n  1.a) B\n  1.b) C\n"))
  }

  /// Paragraphs that were deleted, or moved elsewhere, are at neither place.
  @Test func deletedAndMovedParagraphsAreOmitted() throws {
    let body = ["del", "moveFrom", "ins", "moveTo"].map { "<w:\($0)>\(Self.paragraph($0))</w:\($0)>" }.joined()
    #expect(try MadeOffice.text(of: MadeOffice.word(body)) == .text("ins\n\nmoveTo\n"))
  }

  /// Styles hide text, too; how characters are spoken stands above them, and what divides below.
  @Test func textHiddenByStyleIsOmitted() throws {
    func run(_ text: String, _ look: String = "") -> String { "<w:r><w:rPr>\(look)</w:rPr><w:t>\(text)</w:t></w:r>" }
    let styles = """
      <w:styles SPACES><w:style w:type="character" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>\
      <w:style w:type="character" w:styleId="I"><w:basedOn w:val="H"/></w:style>\
      <w:style w:type="paragraph" w:styleId="P"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>
      """
    let body =
      "<w:p>\(run("a"))\(run("gone", "<w:rStyle w:val=\"I\"/>"))"
      + run("b", "<w:rStyle w:val=\"I\"/><w:vanish w:val=\"0\"/>")
      + "<w:r><w:ruby><w:rt>\(run("spoken"))</w:rt><w:rubyBase>\(run("c"))</w:rubyBase></w:ruby></w:r>"
      + "<m:f xmlns:m=\"http://schemas.openxmlformats.org/officeDocument/2006/math\"><m:num><m:r><m:t>3</m:t></m:r></m:num>"
      + "<m:den><m:r><m:t>4</m:t></m:r></m:den></m:f></w:p><w:p><w:pPr><w:pStyle w:val=\"P\"/></w:pPr>\(run("gone"))</w:p>"
    let document = MadeOffice.word(body, links: [("s", "styles", "styles.xml")], [("word/styles.xml", styles)])
    #expect(try MadeOffice.text(of: document) == .text("abc3/4\n"))
  }

  @Test func unsafeLinksAreRemovedAndImagesAreEmbedded() throws {
    let document = MadeOffice.word(
      "<w:p><w:hyperlink r:id=\"l\"><w:r><w:t>x</w:t></w:r></w:hyperlink>"
        + "<w:r><w:drawing><a:blip r:embed=\"i\"/></w:drawing></w:r></w:p>",
      links: [("l", "hyperlink", "javascript:alert(1)"), ("i", "image", "media/i.png")], [("word/media/i.png", "png!")])
    guard case .text(let page) = try MadeOffice.text(of: document, as: "html") else {
      Issue.record("no page")
      return
    }
    #expect(page.contains("<p>x<img src=\"data:image/png;base64,cG5nIQ==\" alt=\"\"></p>"), "\(page)")
    #expect(try MadeOffice.text(of: document, as: "md") == .text("x![](word/media/i.png)\n"))
  }

  @Test func richTextIsRead() throws {
    let text = #"""
      {\rtf1\ansi\ansicpg1251\uc1{\fonttbl{\f0 A;}{\f1\fcharset0 B;}{\f2\fcharset128 C;}}{\stylesheet{\s1 heading 1;}}
      {\info{\title hidden}}{\*\generator hidden}
      \pard\s1 Title\par\pard\f0 \'cf\'f0\'e8 {\f1 \'e9}{\f2 \'93\'fa}\u8364?\par
      {\b bold} {\v unseen}a\~b\emdash c{\footnote note}\line d\par
      {\field{\*\fldinst HYPERLINK "https://a.example"}{\fldrslt here}}\par
      {\listtext 1.\tab}item\par{\pict\bin4 }}}}}\trowd\intbl p\cell q\cell\row\pard end\par}
      """#
    let shown = """
      Title

      При é日€

      bold a\u{a0}b—c[1]
      d

      here

      1. item

      p\tq

      end

      [1] note

      """
    let read = try MadeOffice.text(of: Array(text.utf8))
    #expect(read == .text(shown))
  }

  @Test func encapsulatedPageHasTextOfItsFonts() {
    let text =
      #"{\rtf1\ansicpg1251\fromhtml1{\fonttbl{\f0\fcharset204 A;}{\f1\fcharset128 B;}}{\*\htmltag64 <p>}\htmlrtf x\htmlrtf0 "#
      + #"\f0\'ef{\f1\'93\'fa}\u-10179?\u-8704?\~\ldblquote{\*\htmltag72 </p>}{\*\mhtmltag72 no}\par}"#
    #expect(RichTextPage.page(in: Array(text.utf8)) == "<p>п日&#128512;&#160;&#8220;</p>\r\n")
    #expect(RichTextPage.page(in: Array(#"{\rtf1 a}"#.utf8)) == nil)
  }
}
