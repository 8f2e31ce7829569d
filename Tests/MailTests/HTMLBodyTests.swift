import Testing

/// The HTML of messages: its links to attachments, and the boundaries of its parts.
@Suite struct HTMLBodyTests {
  @Test func contentIDLinksPointToAttachments() throws {
    let image = "Content-Type: image/png; name=i.png\nContent-Transfer-Encoding: 8bit\n"
    func shown(_ html: String, _ htmlHead: String, _ imageHead: String) throws -> String? {
      try OpenMail(
        MessageFixture.multi(
          "related", "b", ["\(htmlHead)Content-Type: text/html\n\n\(html)", "\(image)\(imageHead)\n\nP"])
      ).html
    }
    let there = "<img src=\"attachments/i.png\">"
    #expect(try shown("<img src=cid:i@x>", "", "Content-ID: <i@x>") == there)
    #expect(try shown("<img src=' CID:i%40x'>", "", "Content-ID: <i@x>") == there)
    #expect(
      try shown("<img srcset='cid:i@x 2x, http://x/ 3x'>", "", "Content-ID: <i@x>")
        == "<img srcset=\"attachments/i.png 2x\">")
    #expect(
      try shown("<p style='background:url(cid:i@x)'>", "", "Content-ID: <i@x>")
        == "<p style=\"background:url(&quot;attachments/i.png&quot;)\">")
    #expect(try shown("<img src=http://x/a/i.png>", "", "Content-Location: http://x/a/i.png") == there)
    #expect(try shown("<img src=i.png>", "", "Content-Location: i.png") == there)
    #expect(
      try shown("<img src=../i.png>", "Content-Location: http://x/a/b/c.html\n", "Content-Location: http://x/a/i.png")
        == there)
    #expect(try shown("<img src=/i.png>", "Content-Base: http://x/a/\n", "Content-Location: http://x/i.png") == there)
    #expect(try shown("<base href=http://y/><img src=cid:i@x>", "", "Content-ID: <i@x>") == there)
    #expect(try shown("<img src=other.png>", "", "Content-Location: i.png") == "<img src=\"about:invalid\">")
  }

  /// Markup left open in one part ends with it.
  @Test func unclosedMarkupEndsWithItsPart() throws {
    for open in ["<!--", "<title>", "<p title='", "<script>", "<style>", "<template>", "<plaintext>"] {
      let text = MessageFixture.multi(
        "mixed", "b", ["Content-Type: text/html\n\n\(open)", "Content-Type: text/html\n\n<i>seen"])
      #expect(try OpenMail(text).html?.hasSuffix("<i>seen") == true, "\(open)")
    }
  }

  @Test func originalHTMLIsUnchanged() throws {
    let html = "<script>x</script><img src=http://x/>"
    let mail = try OpenMail("Content-Type: text/html\n\n\(html)")
    #expect(try mail.originalHTML == html)
    #expect(try mail.html == "<img src=\"about:invalid\">")
  }
}
