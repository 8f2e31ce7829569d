import Bytes
import TestSupport
import Testing

@testable import Fuzzing
@testable import HTML

/// HTML, and its sanitized form.
struct SafeHTMLFixture: CustomTestStringConvertible, Sendable {
  let html: String
  let safe: String

  init(_ html: String, _ safe: String) {
    self.html = html
    self.safe = safe
  }

  var testDescription: String { html }

  static let all = [
    // Safe markup is unchanged.
    SafeHTMLFixture(
      "<table bgcolor=#fff width='80%'><tr><td style=\"color:red\">a &amp; b &copy;</table>",
      "<table bgcolor=\"#fff\" width=\"80%\"><tr><td style=\"color:red\">a &amp; b &copy;</table>"),
    SafeHTMLFixture("a < b & c > d <", "a &lt; b & c > d &lt;"),
    SafeHTMLFixture(
      "<a href=\"http://x/?a=1&amp;b=2&copy=3\">x</a><a href=mailto:a@b.c>y</a><a href=#z>z</a>",
      "<a href=\"http://x/?a=1&amp;b=2&amp;copy=3\">x</a><a href=\"mailto:a@b.c\">y</a><a href=\"#z\">z</a>"),
    SafeHTMLFixture("<o:p>&nbsp;</o:p><spacer width=9>", "<o:p>&nbsp;</o:p><span width=\"9\">"),
    SafeHTMLFixture("<input value=\"a&quot;b\" checked>", "<input value=\"a&quot;b\" checked>"),
    SafeHTMLFixture(
      "<img src=data:image/png;base64,AAAA alt='<b>'>", "<img src=\"data:image/png;base64,AAAA\" alt=\"&lt;b&gt;\">"),
    // Scripts.
    SafeHTMLFixture("a<script>b</script>c<SCRIPT src=x>d</script >e", "ace"),
    SafeHTMLFixture("<img src=x onerror=alert(1)><body ONLOAD='x'>", "<img src=\"about:invalid\"><body>"),
    SafeHTMLFixture(
      "<a href=javascript:x>a</a><a href='java\tscript:x'>a</a><a href='&#106;avascript&#58;x'>a</a>",
      String(repeating: "<a href=\"about:invalid\">a</a>", count: 3)),
    SafeHTMLFixture("<a href=\"data:text/html,x\">a</a>", "<a href=\"about:invalid\">a</a>"),
    SafeHTMLFixture("<svg onload=x><script>y</script><text>z</text></svg>", "<span><span>z</span></span>"),
    SafeHTMLFixture("<iframe src=x>a</iframe><object data=x>b</object><embed src=x>", "b"),
    SafeHTMLFixture("a<template><p>b<template>c</template>d</template>e", "ae"),
    // External resources and navigation.
    SafeHTMLFixture("<base href=http://x/><meta http-equiv=refresh content=0><link rel=prefetch href=//x>", ""),
    SafeHTMLFixture("<form action=http://x/><button formaction=x>", "<form><button>"),
    SafeHTMLFixture("<a ping=http://x/ href=http://y/>", "<a href=\"http://y/\">"),
    SafeHTMLFixture("<img src=http://x/ srcset='http://x/ 2x'>", "<img src=\"about:invalid\">"),
    SafeHTMLFixture("<video poster=//x src=\\\\x\\y>", "<video poster=\"about:invalid\" src=\"about:invalid\">"),
    SafeHTMLFixture("<td background=http://x/>", "<td background=\"about:invalid\">"),
    // Elements whose content is not HTML.
    SafeHTMLFixture(
      "<title><b></title><textarea>a</b>&lt;</textarea>", "<title>&lt;b></title><textarea>a&lt;/b>&lt;</textarea>"),
    SafeHTMLFixture("<xmp><img onerror=x>&amp;</xmp>a", "<pre>&lt;img onerror=x>&amp;amp;</pre>a"),
    SafeHTMLFixture("<plaintext><b></plaintext>", "<pre>&lt;b>&lt;/plaintext></pre>"),
    SafeHTMLFixture(
      "<noscript><p title=\"</noscript><img onerror=x>\">", "<p title=\"&lt;/noscript&gt;&lt;img onerror=x&gt;\">"),
    SafeHTMLFixture("<title>a", "<title>a</title>"),
    // Comments and similar markup.
    SafeHTMLFixture("a<!--b-->c<!-->d<!--->e<!--f--!>g<!h>i<?j>k</ l>m<![CDATA[n]]>o", "acdegikmo"),
    SafeHTMLFixture("<!--[if mso]>a<![endif]--><![if !mso]>b<![endif]>", "b"),
    SafeHTMLFixture("a<!--b", "a"),
    SafeHTMLFixture("<!DOCTYPE html>\n<p>a<!DOCTYPE x>", "<!DOCTYPE html>\n<p>a"),
    SafeHTMLFixture("<!DOCTYPE a<script b\u{1}\u{e9}\n\"><p>c", "<!DOCTYPE ascript b\"><p>c"),
    // Malformed tags.
    SafeHTMLFixture("<img/src=cid:x/onerror=y>", "<img src=\"about:invalid\">"),
    SafeHTMLFixture("<p title=a\"b class='c\"d'>", "<p title=\"a&quot;b\" class=\"c&quot;d\">"),
    SafeHTMLFixture("<p =x title>a<p title = 'b'>", "<p title>a<p title=\"b\">"),
    SafeHTMLFixture("a<b title=\"c>d", "a"),
    SafeHTMLFixture("a\0b<p\0 onclick=x title=\0c>", "ab<span title=\"c\">"),
    // Style sheets.
    SafeHTMLFixture("<style>p{color:red}</style>", "<style>p{color:red}</style>"),
    SafeHTMLFixture("<style>@import url(x;y);@\\69mport 'x' screen;a{b:c}</style>", "<style>a{b:c}</style>"),
    SafeHTMLFixture("<style><!-- a{b:c} --></style>", "<style> a{b:c} </style>"),
    SafeHTMLFixture("<style>a{b:\"</b>\\<\"}</style>", "<style>a{b:\"\\3c /b>\\3c \"}</style>"),
    SafeHTMLFixture("<style>a<b c</style>", "<style>a< b c</style>"),
    SafeHTMLFixture(
      "<p style=\"a:url(http://x/);b:u\\72l( 'x' );c:URL(&quot;x&quot;)\">",
      "<p style=\"a:url(&quot;about:invalid&quot;);b:url(&quot;about:invalid&quot; );c:url(&quot;about:invalid&quot;)\">"
    ),
    SafeHTMLFixture(
      "<p style='a:image-set(\"//x\" 1x);b:\"http:x\";c:\"a\\a b\"'>",
      "<p style=\"a:image-set(&quot;&quot; 1x);b:&quot;&quot;;c:&quot;a\\a b&quot;\">"),
    SafeHTMLFixture("<p style='a:\"b'>", "<p style=\"a:&quot;b&quot;\">"),
    SafeHTMLFixture("<p style='font:\\5b8b\\4f53;a:expression(x)'>", "<p style=\"font:\\5b8b\\4f53;a:invalid(x)\">"),
    SafeHTMLFixture("<style>a", "<style>a</style>"),
    // A comment does not join what it separates.
    SafeHTMLFixture(
      "<style>a{b:ur/**/l(//x);c:exp/* * */ression(y)}/*</style>",
      "<style>a{b:ur/**/l(//x);c:exp/**/ression(y)}/**/</style>"),
  ]
}

/// Documents composed at random of tokens that HTML parsers treat specially.
private struct Soup {
  var numbers: SeededNumbers
  static let crumbs = [
    "<", ">", "\"", "'", "`", "=", "/", " ", "\n", "\0", "&", "&#60;", "&lt;", "&quot;", "-", "--", "!", "<!--", "-->",
    "--!>", "<![CDATA[", "]]>", "<?", "</", "a", "b", "x", "\u{e9}", "<p ", "<img src=", "onerror=alert(1) ", "style=",
    "title=", "href=", "javascript:", "http://x/", "//x", "url(", ")", "@import ", "\\", "\\69", "\\3c ", "{", "}", ";",
    "<script>", "</script>", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>", "<svg>",
    "</svg>",
    "<math>", "<xmp>", "</xmp>", "<template>", "</template>", "<noscript>", "</noscript>", "<select>", "<plaintext>",
    "<iframe>", "</iframe>", "<base href=http://x/>", "<!doctype html>", "/*", "*/",
  ]

  mutating func document(_ count: Int) -> String {
    var text = ""
    for _ in 0..<count { text += Self.crumbs[Int(numbers.next() % UInt64(Self.crumbs.count))] }
    return text
  }
}

struct SafeHTMLTests {
  private func page(_ html: String, _ links: ContentLinks = ContentLinks(), chunkSize: Int = 8 << 20) throws -> String {
    let page = try SafePage(
      [SafePage.Piece(text: ByteArraySource(Array(html.utf8)), links: links)], chunkSize: chunkSize)
    return String(decoding: try page.bytes(at: 0, count: Int(page.size)), as: UTF8.self)
  }

  @Test(arguments: SafeHTMLFixture.all)
  func sanitizerKeepsOnlySafeMarkup(_ fixture: SafeHTMLFixture) throws {
    let page = try page(fixture.html)
    #expect(page.replacing(SafeHTML.head, with: "") == fixture.safe)
    #expect(page.contains(SafeHTML.head))
    // Sanitizing is idempotent.
    #expect(try self.page(fixture.safe).replacing(SafeHTML.head, with: "") == fixture.safe)
  }

  /// The policy comes before anything that could load a resource, and after the doctype.
  @Test func contentPolicyPrecedesContent() throws {
    let type = "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">"
    #expect(try page(" \n\(type)<html><p>").hasPrefix(type + SafeHTML.head))
    #expect(try page("<!-- x --><p>\(type)").hasPrefix(SafeHTML.head))
    #expect(try page("text").hasPrefix(SafeHTML.head))
    #expect(SafeHTML.head.contains("default-src 'none'"))
  }

  /// No combination of tokens yields unsafe markup; the result is independent of the buffer size.
  @Test func randomMarkupIsSanitized() throws {
    var soup = Soup(numbers: SeededNumbers(seed: 7))
    let links = ContentLinks(names: [Array("i".utf8): "i.png"])
    for round in 0..<400 {
      let html = soup.document(5 + round % 60)
      #expect(try StrictPage.oddity(in: Array(page(html, links).utf8), attachments: ["i.png"]) == nil, "\(html)")
      for chunkSize in [700, 701] {
        let long = String(repeating: " ", count: 650) + html
        let chunked = try page(long, links, chunkSize: chunkSize)
        #expect(StrictPage.oddity(in: Array(chunked.utf8), attachments: ["i.png"]) == nil, "\(html)")
      }
    }
  }

  @Test func sanitizedPageIsIndependentOfChunkSize() throws {
    let html =
      "<!DOCTYPE html><style>p{a:b}</style><title>x</title><textarea>a < b</textarea><p onclick=x title='a>b'>x<!-- c -->"
      + "<script>d<e</script><img src=cid:i alt=\u{e9}><xmp><b></xmp>"
    let text = String(repeating: html, count: 200)
    let whole = try page(text)
    for chunkSize in [128, 300, 4096] { #expect(try page(text, chunkSize: chunkSize) == whole) }
    let pieces = [SafePage.Piece(text: ByteArraySource(Array(text.utf8)), links: ContentLinks())]
    let source = try SafePage(pieces, chunkSize: 300)
    let bytes = Array(whole.utf8)
    for offset in stride(from: 0, to: bytes.count - 50, by: 977).reversed() {
      #expect(try source.bytes(at: Int64(offset), count: 50) == Array(bytes[offset..<offset + 50]))
    }
  }

  /// A token longer than the buffer is dropped, and what follows it is kept.
  @Test func overlongTokensAreDropped() throws {
    let long = String(repeating: "x", count: 1000)
    for markup in [
      "<p title='\(long)>'>", "<!--\(long)>-->", "<!\(long)>", "<script>\(long)</script>", "<style>\(long)</style>",
    ] {
      #expect(try page("a\(markup)b<i>", chunkSize: 256).hasSuffix("ab<i>"), "\(markup.prefix(20))")
    }
  }

  /// A page of a folder: what lies beside it stays, and nothing has a browser connect to elsewhere.
  @Test func harmlessPageKeepsOnlyRelativeResources() {
    let html = """
      <head><base href=//far><link rel=preconnect href=//far><meta http-equiv=refresh content="0;url=//far"></head>\r\n\
      <p style="color:red;background:url(//far/a) url(b.png)">kept<img src=a/b.png srcset="c.png 2x, //far/d 3x"><img src="\\\\far\\x">\
      <img src=/\t/far><a href="../x.html">x</a><a href=https://far ping=//far>y</a>
      """
    let made = String(decoding: HarmlessPage.made(Array(html.utf8)), as: UTF8.self)
    for word in ["<link", "<base", "refresh", "ping", "//far/", "\"//far", "\\far", "\r"] {
      #expect(!made.contains(word), "\(made)")
    }
    for word in ["\"a/b.png\"", "c.png 2x", "b.png", "\"../x.html\"", "\"https://far\"", "color:red"] {
      #expect(made.contains(word), "\(made)")
    }
  }
}
