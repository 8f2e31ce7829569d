import Bytes
import TestSupport
import Testing

@testable import Mail

/// A message and its contents.
struct MessageFixture: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let text: String
  var body = ""
  var html: String?
  /// Names and contents.
  var files: [(String, String)] = []

  static let all = [
    MessageFixture(testDescription: "no header at all", text: "\nHello\n", body: "Hello\n"),
    MessageFixture(testDescription: "no body", text: "Subject: x\n", body: ""),
    MessageFixture(
      testDescription: "a delimiter ends the header that declares it",
      text: "Content-Type: multipart/mixed;\n boundary=b\n \n" + parts("b", [plain("one"), file("f", "x")]),
      body: "one", files: [("f", "x")]),
    MessageFixture(
      testDescription: "delimiters in the headers of parts",
      text: "Content-Type: multipart/mixed; boundary=b\n--b\nContent-Type: multipart/mixed; boundary=c\n"
        + "--c\n\none\n--c--\n--b--\n", body: "one"),
    MessageFixture(
      testDescription: "lines of dashes in a header",
      text: "--x\nA: 1\n--y: z\nContent-Type: text/plain; boundary=b\n--b\nSubject: x\n\nbody", body: "body"),
    MessageFixture(
      testDescription: "the root of related parts by its id",
      text: related("start=\"<r>\"", [html("a"), "Content-ID: <r>\n" + html("b")]), body: "b\n", html: "<p>b",
      files: [("part-2.html", "<p>a")]),
    MessageFixture(
      testDescription: "the root of related parts by its type",
      text: related("type=\"text/html\"", [file("f", "x"), html("a")]), body: "a\n", html: "<p>a", files: [("f", "x")]),
    MessageFixture(
      testDescription: "the root of related parts without parameters",
      text: related("x=y", ["Content-Type: image/png\n\nP", html("a")]), body: "a\n", html: "<p>a",
      files: [("image.png", "P")]),
    MessageFixture(
      testDescription: "the first of related parts is the root, whatever the type",
      text: related("type=\"text/html\"", [multi("alternative", "c", [plain("one"), html("a")]), html("b")]),
      body: "one", html: "<p>a", files: [("part-5.html", "<p>b")]),
    MessageFixture(testDescription: "CR only", text: "Subject: x\rTo: y\r\rHello\rthere\r", body: "Hello\nthere\n"),
    MessageFixture(
      testDescription: "no empty line", text: "Subject: x\nHello there\nsecond line\n",
      body: "Hello there\nsecond line\n"),
    MessageFixture(
      testDescription: "alternative",
      text: multi("alternative", "b", [plain("one"), "Content-Type: text/html\n\n<p>two"]),
      body: "one", html: "<p>two"),
    MessageFixture(
      testDescription: "blank text in its character set, and HTML",
      text: multi(
        "alternative", "b",
        ["Content-Type: text/plain; charset=utf-16be\nContent-Transfer-Encoding: base64\n\nACAACg==\n", html("two")]),
      body: "two\n", html: "<p>two"),
    MessageFixture(
      testDescription: "HTML only", text: "Content-Type: text/html\n\n<p>a &amp; b</p><p>c", body: "a & b\n\nc\n",
      html: "<p>a &amp; b</p><p>c"),
    MessageFixture(
      testDescription: "mixed, and text behind the file",
      text: multi("mixed", "b", [plain("one\n"), file("f.bin", "data"), plain("two")]),
      body: "one\ntwo", files: [("f.bin", "data")]),
    MessageFixture(
      testDescription: "clashing and bad names",
      text: multi(
        "mixed", "b",
        [
          file("a.txt", "1"), file("a.txt", "2"), file("../x/a.txt", "3"), file("C:\\\\d\\\\a.txt", "4"),
          file("..", "5"), file("", "6"),
        ]),
      files: [
        ("a.txt", "1"), ("a (1).txt", "2"), ("a (2).txt", "3"), ("a (3).txt", "4"), ("part-6.bin", "5"),
        ("part-7.bin", "6"),
      ]),
    MessageFixture(
      testDescription: "boundary that starts with dashes", text: multi("mixed", "--b", [plain("one"), file("f", "x")]),
      body: "one",
      files: [("f", "x")]),
    MessageFixture(
      testDescription: "inner boundary is the outer one's prefix",
      text: multi("mixed", "bb", [multi("mixed", "b", [plain("one"), file("f", "x")]), file("g", "y")]), body: "one",
      files: [("f", "x"), ("g", "y")]),
    MessageFixture(
      testDescription: "inner boundary is the outer one with dashes behind",
      text: multi("mixed", "b", [multi("mixed", "b--", [plain("one"), file("f", "x")]), file("g", "y")]), body: "one",
      files: [("f", "x"), ("g", "y")]),
    MessageFixture(
      testDescription: "outer boundary is the inner one with dashes behind",
      text: multi("mixed", "b--", [multi("mixed", "b", [plain("one"), file("f", "x")]), file("g", "y")]), body: "one",
      files: [("f", "x"), ("g", "y")]),
    MessageFixture(
      testDescription: "inner multipart never closed",
      text: multi("mixed", "b", ["Content-Type: multipart/mixed; boundary=c\n\n--c\n\none", file("g", "y")]),
      body: "one",
      files: [("g", "y")]),
    MessageFixture(
      testDescription: "nothing closed", text: "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo",
      body: "one\ntwo"),
    MessageFixture(
      testDescription: "no boundary", text: "Content-Type: multipart/mixed\n\n--b\n\none\n--b--\n",
      body: "--b\n\none\n--b--\n"),
    MessageFixture(
      testDescription: "preamble and epilogue",
      text: "Content-Type: multipart/mixed; boundary=b\n\nbefore\n--b\n\none\n--b-- \t\nafter\n--b\n\nlate\n",
      body: "one"),
    MessageFixture(
      testDescription: "lines like delimiters",
      text: multi("mixed", "b", [plain("--bx\n-- b\n --b\nx--b\n--b-\n---b\none")]),
      body: "--bx\n-- b\n --b\nx--b\n--b-\n---b\none"),
    MessageFixture(
      testDescription: "digest",
      text: multi("digest", "b", ["\nSubject: in\n\none", "Content-Type: text/plain\n\ntwo"]), body: "two",
      files: [("in.eml", "Subject: in\n\none")]),
    MessageFixture(
      testDescription: "message within",
      text: multi(
        "mixed", "b",
        [
          plain("one"), "Content-Type: message/rfc822\n\n" + multi("mixed", "c", [plain("inner"), file("z", "z")]),
          "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogaGUvbGxvCgp4",
        ]),
      body: "one",
      files: [
        ("message.eml", multi("mixed", "c", [plain("inner"), file("z", "z")])), ("he-llo.eml", "Subject: he/llo\n\nx"),
      ]),
    MessageFixture(
      testDescription: "flowed, DelSp",
      text: "Content-Type: text/plain; format=flowed; delsp=yes\n\none \ntwo\n> q \n> r\n -- x\n-- \nsig\n",
      body: "onetwo\n> qr\n-- x\n-- \nsig\n"),
    MessageFixture(
      testDescription: "an encoding that is none", text: "Content-Transfer-Encoding: nonsense\n\none=20\n",
      body: "one=20\n"),
    MessageFixture(
      testDescription: "text that is said to be base64",
      text: "Content-Transfer-Encoding: base64\n\nThis is text as one reads it, no base64.\n",
      body: "This is text as one reads it, no base64.\n"),
    MessageFixture(
      testDescription: "uuencode, and prose that begins",
      text: "Subject: x\n\nbegin 644 words\nare here\nbegin 644 cat.txt\n#0V%T\n`\nend\nafter\n",
      body: "begin 644 words\nare here\nafter\n",
      files: [("cat.txt", "Cat")]),
    MessageFixture(
      testDescription: "uuencode cut off", text: "\nbegin 644 cat.txt\n#0V%T\nand that was it, friends\n",
      body: "and that was it, friends\n", files: [("cat.txt", "Cat")]),
    MessageFixture(
      testDescription: "yEnc",
      text: "\none\n=ybegin part=1 line=128 size=3 name=a cat.txt\n=ypart begin=1 end=3\nmz~\n=yend size=3\ntwo\n",
      body: "one\ntwo\n", files: [("a cat.txt", "CPT")]),
    MessageFixture(
      testDescription: "pictures by content id",
      text: multi(
        "related", "b",
        [
          "Content-Type: text/html\n\n<img src=\"cid:a%40b\"><img src=cid:none>",
          "Content-Type: image/png; name=\"my pic.png\"\nContent-ID: <a@b>\n\nP",
        ]),
      body: "", html: "<img src=\"attachments/my%20pic.png\"><img src=\"about:invalid\">", files: [("my pic.png", "P")]),
  ]

  static func plain(_ text: String) -> String { "Content-Type: text/plain\n\n\(text)" }
  static func file(_ name: String, _ data: String) -> String {
    "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"\(name)\"\n\n\(data)"
  }
  static func html(_ text: String) -> String { "Content-Type: text/html\n\n<p>\(text)" }
  static func multi(_ kind: String, _ boundary: String, _ parts: [String]) -> String {
    "Content-Type: multipart/\(kind); boundary=\"\(boundary)\"\n\n" + self.parts(boundary, parts)
  }
  static func related(_ parameter: String, _ parts: [String]) -> String {
    "Content-Type: multipart/related; boundary=b; \(parameter)\n\n" + self.parts("b", parts)
  }
  static func parts(_ boundary: String, _ parts: [String]) -> String {
    parts.map { "--\(boundary)\n\($0)\n" }.joined() + "--\(boundary)--\n"
  }
}

struct MessageTests {
  @Test(arguments: MessageFixture.all, ["\n", "\r\n"])
  func messageHasExpectedBodyAndAttachments(_ fixture: MessageFixture, _ lineEnd: String) throws {
    let mail = try OpenMail(fixture.text.replacing("\n", with: lineEnd))
    #expect(try mail.body == fixture.body)
    #expect(try mail.html == fixture.html.map { $0.replacing("\r\n", with: "\n") })
    #expect(mail.names == fixture.files.map(\.0))
    for (name, contents) in fixture.files {
      #expect(try mail.text(name)?.replacing("\r\n", with: "\n") == contents.replacing("\r\n", with: "\n"))
    }
    #expect(mail.message.fault == nil)
  }

  @Test func fromQuotingIsRemovedOnlyInMailboxes() throws {
    let text = MessageFixture.multi(
      "mixed", "b", [MessageFixture.plain(">From a\n>>From b"), MessageFixture.file("f", ">From c")])
    #expect(try OpenMail(text).body == ">From a\n>>From b")
    #expect(try OpenMail(text, isQuoted: true).body == "From a\n>From b")
    #expect(try OpenMail(text, isQuoted: true).text("f") == "From c")
  }

  /// A delimiter is found at any offset in the buffer, and similar lines are not taken for one.
  @Test func delimitersAtBufferEdgesAreFound() throws {
    for shift in -40...10 {
      let filler = String(repeating: "x", count: (128 << 10) - 100 + shift)
      for lineEnd in ["\n", "\r\n"] {
        let text = MessageFixture.multi(
          "mixed", "boundary",
          [
            MessageFixture.plain(filler), MessageFixture.file("f", "--boundar\n--boundaryy"),
          ]
        ).replacing("\n", with: lineEnd)
        let mail = try OpenMail(text)
        #expect(try mail.body == filler)
        #expect(try mail.text("f") == "--boundar\(lineEnd)--boundaryy")
      }
    }
  }

  @Test func textInAnyCharsetIsDecoded() throws {
    func body(_ charset: String?, _ bytes: [UInt8], _ more: String = "") throws -> String {
      let type = charset.map { "Content-Type: text/plain; charset=\($0)\n" } ?? ""
      return try OpenMail(Array((type + more + "\n").utf8) + bytes).body
    }
    #expect(try body(nil, Array("Grüße".utf8)) == "Grüße")
    #expect(try body(nil, [0x47, 0x72, 0xfc, 0xdf, 0x65, 0x80]) == "Grüße€")
    #expect(try body("iso-8859-1", [0xfc, 0x80, 0x81]) == "ü€\u{fffd}")
    #expect(try body("us-ascii", Array("ü".utf8)) == "ü")
    #expect(try body("x-unknown", [0xfc]) == "ü")
    #expect(try body("utf-8", [0x61, 0xff, 0x62]) == "a\u{fffd}b")
    #expect(try body("gb2312", [0xc4, 0xe3, 0x81, 0x30, 0x81, 0x30]) == "你\u{80}")
    #expect(try body("iso-2022-jp", [0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42, 0x0a]) == "あ\n")
    #expect(try body("utf-7", Array("a+AOQ-b".utf8)) == "aäb")
    #expect(try body("utf-16", [0xff, 0xfe, 0x61, 0, 0x0a, 0, 0xe4, 0]) == "a\nä")
    #expect(try body("utf-16be", [0, 0x61, 0, 0x0d, 0, 0x0a, 0, 0xe4]) == "a\nä")
  }

  @Test(arguments: [
    "charset=iso-8859-2", "charset='iso-8859-2'", "charset=\"iso-8859-2\"", "CHARSET=ISO-8859-2",
    "http-equiv=Content-Type content='text/html; charset=iso-8859-2'",
    "http-equiv=Content-Type content=\"text/html; charset=iso-8859-2\"",
  ])
  func charsetInsideAPageIsUsed(_ words: String) throws {
    let page = Array("<html><meta \(words)><p>".utf8) + [0x78, 0xb3]
    #expect(try OpenMail(Array("Content-Type: text/html\n\n".utf8) + page).body == "xł\n")
    // The message knows better.
    #expect(try OpenMail(Array("Content-Type: text/html; charset=koi8-r\n\n".utf8) + page).body == "xЁ\n")
  }

  @Test func originalHTMLStartsWithByteOrderMark() throws {
    let html = "<meta charset=latin1>\u{e4}"
    #expect(try OpenMail("Content-Type: text/html; charset=utf-8\n\n\(html)").originalHTML == "\u{feff}\(html)")
  }

  /// Any text is the body, whatever its type.
  @Test func anyTextTypeCanBeTheBody() throws {
    func body(_ text: String) throws -> String { try OpenMail(text).body }
    let page = "Content-Type: text/html\n\n<p>real text</p>"
    for blank in ["", "\n\n", " \t\n \n", "\u{a0}\n"] {
      let plain = "Content-Type: text/plain; charset=utf-8\n\n\(blank)"
      #expect(try body(MessageFixture.multi("alternative", "b", [plain, page])) == "real text\n", "'\(blank)'")
    }
    #expect(
      try body(MessageFixture.multi("alternative", "b", ["Content-Type: text/plain\n\nsee HTML", page])) == "see HTML")
    #expect(try body("Content-Type: text/markdown; charset=utf-8\n\n# Gr\u{fc}n\n") == "# Gr\u{fc}n\n")
    #expect(try body("Content-Type: text/x-none-such\n\nsome\n") == "some\n")
    #expect(try body("Content-Type: text/rtf\n\n{\\rtf1\\ansi Hi \\b there\\b0}\n") == "Hi there")
    #expect(
      try body("Content-Type: text/enriched\n\n<bold>Hi</bold> <color><param>red</param>there</color>\nx << y\n\nz\n")
        == "Hi there x < y\nz\n")
    let named = "Content-Type: text/markdown; name=a.md\nContent-Disposition: attachment\n\n# x"
    #expect(try body(MessageFixture.multi("mixed", "b", [MessageFixture.plain("one"), named])) == "one")
    #expect(try OpenMail("Content-Type: text/markdown\n\n# x").names == ["part-1.md"])
  }

  /// The end of a mail within four characters of base64 is reported, unless a delimiter follows, since some programs
  /// leave out the padding.
  @Test(arguments: [
    ("QUJD\nQUJDRA", true), ("QUJD\nQUJDRA\n\n", true), ("QUJD\nQUJDRA\n--b--\n", false),
    ("QUJD\nQUJDRA==", false), ("QUJD\nQUJD\n", false), ("", false), ("QUJD\nnot base64!", false),
  ])
  func endWithinBase64IsReported(_ body: String, _ isCut: Bool) throws {
    let head = "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment; filename=f\n"
    let mail = try OpenMail(head + "Content-Transfer-Encoding: base64\n\n" + body)
    let damage = try mail.message.damage(of: mail.message.attachments[0])
    #expect((damage?.kind == .damaged) == isCut)
    #expect(isCut ? damage?.reason.contains("found the end of the mail") == true : damage == nil)
  }

  /// A damaged line loses only its own bytes; what follows is decoded, and the damage is reported.
  @Test(arguments: ["text/plain\n\nhi\n", "application/x; name=f\nContent-Transfer-Encoding: x-uuencode\n\n"])
  func damagedUUEncodeLosesOnlyBadLinesAndIsReported(_ head: String) throws {
    let line = "M" + String(repeating: "ABCD", count: 15)
    func mail(_ lines: [String]) throws -> OpenMail {
      try OpenMail("Content-Type: \(head)" + (["begin 644 f"] + lines).map { $0 + "\n" }.joined() + "bye\n")
    }
    let sound = try mail([line, line, line, "`", "end"])
    #expect(try sound.message.damage(of: sound.message.attachments[0]) == nil)
    let bytes = try #require(try sound.file("f"))
    #expect(bytes.count == 135)
    let (bad, prose) = (String(line.dropLast(2) + "~D"), "lower case, which is no uuencode")
    for lines in [
      [line, bad, line, "`", "end"], [line, prose, line, line, "`", "end"], [bad, "M" + bad, line, line, "end"],
    ] {
      let damaged = lines[0] == bad ? [line] + lines : lines
      let mail = try mail(damaged)
      let found = try #require(try mail.file("f"))
      #expect(found.count >= 135 && found.starts(with: bytes.prefix(45)), "\(lines)")
      #expect(found.suffix(45).elementsEqual(bytes.suffix(45)), "\(lines)")
      #expect(try mail.message.damage(of: mail.message.attachments[0])?.kind == .damaged, "\(lines)")
    }
    let cut = try mail([line, line, "", "good", "bye"])
    #expect(try cut.file("f") == Array(bytes.prefix(90)))
    #expect(try cut.message.damage(of: cut.message.attachments[0]) != nil)
  }

  /// Text of many chunks reads the same at any offset.
  @Test func largeTextReadsTheSameAtAnyOffset() throws {
    var numbers = SeededNumbers(seed: 3)
    var text = ""
    while text.utf8.count < 3_500_000 { text += String(repeating: "ä€x ", count: numbers.below(30)) + "\r\n" }
    let mail = try OpenMail("Content-Type: text/plain; charset=utf-8\n\n\(text)")
    let expected = Array(text.replacing("\r\n", with: "\n").utf8)
    let source = try mail.message.open(mail.message.body)
    try #require(source.size == Int64(expected.count))
    for _ in 0..<60 {
      let offset = numbers.below(expected.count)
      let found = try source.partialBytes(at: Int64(offset), count: 200_000)
      #expect(found.elementsEqual(expected[offset..<min(expected.count, offset + 200_000)]))
    }
  }

  @Test func headersTextIsDecodedAndSanitized() throws {
    let mail = try OpenMail("Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n there\nX-Odd: a\u{1b}[31mb\n\nbody")
    #expect(
      String(decoding: try mail.message.headersText(), as: UTF8.self) == "Subject: Grüße there\nX-Odd: a\u{fffd}[31mb\n"
    )
  }
}
