internal import Bytes
internal import HTML
internal import TestSupport

extension FuzzTarget {
  /// HTML: its text, and its safe page with blocks of several sizes.
  public static let html = FuzzTarget(name: "html") {
    [
      "<html><head><style>a{}</style></head><p>a &amp; b &#8364; &#x10ffff; &#99999999999;<br><pre> c\n d</pre>"
        + "<table><tr><td>1<td>2</table><ul><li>x<ol><li>y</ol></ul><a href=\"http://x/\">z</a><img src='cid:p@x'>",
      "<!-- c --><![CDATA[x]]><script>if (a<b) {}</script><blockquote>q<blockquote>r</blockquote></blockquote",
      "<p title='>'>&nbsp;&notanentity;&#0;&#xD800;<x-y/><TEXTAREA></",
      "<html lang=de><title>T &amp; t</title><rootfile full-path='a/b.opf'/><dc:title>x</dc:title><dc:language>de"
        + "<item id='i' href='../c%20d/../e.xhtml#f' media-type='text/html'/><itemref idref='i'/><itemref idref=i>",
      "<!DOCTYPE html><style>@import 'x';a{b:url(c)}</style><p style='a:url(//x)'><img srcset='cid:p@x 2x, d 3x'><xmp><b>",
    ].map { Array($0.utf8) }
  } complaints: { bytes in
    var reading = HTMLReading()
    reading.read(bytes)
    return reading.complaints
  }
}

/// Reads HTML in every way, and records violated invariants.
private struct HTMLReading {
  private(set) var complaints: [String] = []
  private static let links = ContentLinks(
    names: [Array("p@x".utf8): "p.png"], locations: [Array("http://x/d".utf8): "d.png"], base: Array("http://x/".utf8))

  private mutating func check(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
    if !isSo, complaints.count < 20 { complaints.append(complaint()) }
  }

  mutating func read(_ bytes: [UInt8]) {
    let encoded = Array(String(decoding: bytes, as: UTF8.self).utf8)
    let shown = HarmlessPage.made(encoded)
    check(!shown.contains(0x0d), "the page of a folder has a carriage return")
    check(shown, "the page of a folder", keepsRelative: true)
    let html = encoded.filter { $0 != 0x0d }
    let text = HTMLText.text(of: html)
    check(isText(text), "the text is not UTF-8")
    check(text.count <= 2 * html.count + 1, "\(text.count) bytes of text are made of \(html.count)")
    check(isText(Self.links.resolved(html)), "the original with links is not UTF-8")
    for size in [8 << 20, 700, 257] { readPage(html, chunkSize: size) }
    readOutline(encoded)
  }

  /// Reads the outline of a book, whose paths stay in the archive.
  private mutating func readOutline(_ bytes: [UInt8]) {
    let head = PageHead(of: bytes)
    check(!(head.title?.utf8.contains { $0 < 0x20 } ?? false), "a title has several lines")
    let outline = BookOutline(bytes, at: BookOutline.path(in: bytes) ?? Array("x.opf".utf8))
    for path in outline.chapters + [BookOutline.path(in: bytes)].compactMap(\.self) {
      let names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      check(
        !names.contains { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) },
        "the path \(path) leads elsewhere")
    }
  }

  private func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  private mutating func check(_ page: [UInt8], _ name: String, keepsRelative: Bool) {
    let oddity = StrictPage.oddity(in: page, attachments: ["p.png", "d.png"], keepsRelative: keepsRelative)
    if let oddity { check(false, "\(name) has \(oddity)") }
  }

  /// Reads the safe page front to back and at some offsets.
  private mutating func readPage(_ html: [UInt8], chunkSize: Int) {
    let name = "the page of blocks of \(chunkSize) bytes"
    let pieces = [SafePage.Piece(text: ByteArraySource(html), links: Self.links)]
    guard let page = try? SafePage(pieces, chunkSize: chunkSize) else { return check(false, "\(name) cannot be read") }
    let (whole, found) = page.readAtOffsets(name)
    for complaint in found { check(false, complaint) }
    if let whole { check(whole, name, keepsRelative: false) }
  }
}
