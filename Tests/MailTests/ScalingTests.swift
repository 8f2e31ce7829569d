import Bytes
import Glibc
import TestSupport
import Testing

@testable import Mail

/// Whether four times as much of something repeated takes four times as long, and not sixteen.
///
/// Compares CPU time, which depends on the machine: for the full run only.
@Suite(.serialized, .enabled(if: TestExtent.isFull, "takes minutes")) struct ScalingTests {
  /// What reads bytes, and how many times the usual size costs enough to be measured.
  struct Reader: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let read: @Sendable ([UInt8]) throws -> Void
  }

  private static let links = ContentLinks(
    names: [Array("a".utf8): "a"], locations: [Array("http://a/b".utf8): "b"], base: Array("http://a/".utf8))

  static let markup: [Reader] = [
    Reader(testDescription: "text of HTML") { _ = HTMLText.text(of: $0) },
    Reader(testDescription: "safe HTML") { bytes in
      var state = SafeHTML.State()
      _ = SafeHTML.made(bytes, isLast: true, links, &state)
    },
    Reader(testDescription: "safe page") { bytes in
      _ = try SafePage([SafePage.Piece(text: ByteArraySource(bytes), links: links)], chunkSize: 64 << 10)
    },
    Reader(testDescription: "style") { _ = SafeStyle.made($0, links) },
    Reader(testDescription: "links") { _ = links.resolved($0) },
    Reader(testDescription: "enriched") { _ = EnrichedText.text(of: $0) },
    Reader(testDescription: "flowed") { _ = FlowedText.unflowed($0, deletesSpace: true) },
  ]

  static let markupUnits = [
    "<", "<!", "<!--", "<!-- -", "-->", "<a", "<a ", "<a b", "<a b=", "<a b=\"", "<a b='", "<a b=\">", "<a \"",
    "<a =\"x'",
    "</", "</a", "<a>", "<a/>", "<b><i>", "<table><tr><td>", "<pre>", "<style>", "<style></", "<script>", "<textarea>",
    "<textarea></textarea", "<title>", "<plaintext>", "<svg>", "<p><!--", "<p style=\"url(", "<img src=cid:a>",
    "<a href=\"http://a/b/../c\">", "<img srcset=\",,,\">", "<img srcset=\"a 1x, ", "&", "&amp", "&amp;", "&#", "&#x",
    "&#1", "&#x41;", "<li>", "\n", " ", "\t", "\u{a0}", "\"", "'", ">", "=", "url(", "url(\"", "@import", "@import \"",
    "@import url(", "/*", "/* *", "\\", "\\0", "{", "}", "(", "[", "cid:", "cid:a ", "<nl>", "<param>", "<<", " \n",
    "> \n",
    ">", "-- \n", "x \n", "<?", "<![CDATA[", "<a b=\"c\" ", "<a b=c ", "a:b;", "expression(", "-", "--", "\0",
  ]

  static let mail: [Reader] = [
    Reader(testDescription: "message") { bytes in
      let message = try Message(reading: ByteArraySource(bytes), isQuoted: true)
      _ = try message.words { _ in nil }
      _ = try message.headersText()
      if let html = message.html { _ = try message.open(html) }
    },
    Reader(testDescription: "mailbox") { _ = try rows($0) },
    Reader(testDescription: "headers") { bytes in
      let header = Header(bytes[...])
      for field in header.fields { _ = header.text(of: header.value(of: field)) }
    },
    Reader(testDescription: "words") { _ = EncodedWords.decode($0[...]) },
    Reader(testDescription: "address") { _ = MailAddress(firstOf: $0[...]) },
    Reader(testDescription: "parameters") { _ = ContentType($0[...]).parameters.all },
    Reader(testDescription: "date") { _ = MailDate($0[...]) },
    Reader(testDescription: "subject") { _ = BaseSubject(String(decoding: $0, as: UTF8.self)) },
    Reader(testDescription: "files in text") { _ = try InlineFile.find(in: ByteArraySource($0)) },
    Reader(testDescription: "folded words") { _ = WordText.indexed($0) },
  ]

  /// What precedes the repeated text, and that.
  static let mailUnits: [(String, String)] = [
    ("", "--"), ("", "--\n"), ("", "-"), ("", "\n"), ("", "\r"), ("", "\r\n"), ("", ":"), ("", "a:\n"),
    ("", "a: b\n c\n"),
    ("", "To: \u{fc}\n"), ("Content-Type: text/plain; charset=iso-8859-1\n", "To: \u{fc}\n"), ("", "x\nA: b\n"),
    ("", "--x\nA: b\n"), ("Content-Type: multipart/mixed; boundary=b\n", "--x\nA: b\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b\n\nx\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b--\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--bb\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Type: multipart/mixed; boundary=b\n\n"),
    (
      "Content-Type: multipart/related; boundary=b\nContent-Location: http://a/\n\n",
      "--b\nContent-Type: text/html\nContent-Location: x\n\n<img src=y>\n"
    ),
    (
      "Content-Type: multipart/related; boundary=b\n\n",
      "--b\nContent-Type: text/html\nContent-ID: <a>\n\n<img src=cid:a>\n"
    ),
    ("Content-Type: multipart/alternative; boundary=b\n\n", "--b\nContent-Type: text/html\n\nx\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Disposition: attachment; filename=a.txt\n\nx\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Type: message/rfc822\n\nSubject: x\n\ny\n"),
    ("Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Type: text/html; charset=x\n\n<p>\u{fc}\n"),
    ("Subject: ", "=?"), ("Subject: ", "=?utf-8?q?a?= "), ("Subject: ", "=?utf-8?q?"), ("Subject: ", "?="),
    ("Subject: ", "=?a?b?"), ("Subject: ", "\u{fc}=?utf-8?q?a?="), ("Subject: ", "Re: "), ("Subject: ", "[a]"),
    ("Subject: ", "["), ("Subject: ", "(fwd)"), ("Subject: ", "[fwd:"), ("", "Re: "), ("", "[a] "), ("", "[fwd: "),
    ("From: ", "("), ("From: ", "(\\"), ("From: ", "\""), ("From: ", "<"), ("From: ", "a:"), ("From: ", "a,"),
    ("From: ", "a@b "), ("From: ", "<@"), ("", "a@b "), ("", "a:b@c;"), ("", "<"), ("", "("), ("", "\"\\"),
    ("Content-Type: a/b", ";"), ("Content-Type: a/b", "; a=\""), ("Content-Type: a/b", "; a*0*=x"),
    ("Content-Type: a/b", "; a*1=\"x\""), ("a/b", "; a*="), ("a/b", "; a=\"\\"), ("a/b", " a=b"),
    ("a/b", "; charset= "),
    ("a/b", "; name*=utf-8''%"), ("Date: ", "1 "), ("Date: ", "(("), ("Received: ", "from a by b; "),
    ("", "Received: from a\n\tby b\n"), ("References: ", "<a@b> "), ("References: ", "<"), ("", "From \n"),
    ("From a@b Mon Jan  1 00:00:00 2018\nSubject: x\n\n", "From a@b Mon Jan  1 00:00:00 2018\n"),
    ("", "From a@b Mon Jan  1 00:00:00 2018\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n"),
    (
      "From a@b Mon Jan  1 00:00:00 2018\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n",
      "\nFrom a@b Mon Jan  1 00:00:00 2018\nSubject: x\n\n--b\n"
    ),
    ("From a@b Mon Jan  1 00:00:00 2018\nA: b\n\n", "\nFrom x\n"), ("\n", ">From x\n"), ("\n", ">"),
    ("\n", "begin 644 x\n"),
    ("\n", "begin 644 x\n#0V%T\n"), ("\nbegin 644 x\n", "#0V%T\nx\n"), ("\n", "=ybegin name=x\n"), ("\n", "=yend\n"),
    ("Content-Type: text/html\n\n", "&amp"), ("Content-Transfer-Encoding: quoted-printable\n\n", "="),
    ("Content-Transfer-Encoding: quoted-printable\n\n", " "),
    ("Content-Transfer-Encoding: quoted-printable\n\n", "= \n"),
    ("Content-Transfer-Encoding: base64\n\n", "="), ("Content-Transfer-Encoding: base64\n\n", "A"),
    ("Content-Type: text/rtf\n\n{\\rtf1", "{"), ("Content-Type: text/rtf\n\n{\\rtf1", "\\'fc"),
    ("Content-Type: text/rtf\n\n{\\rtf1", "\\u1 "), ("Content-Type: text/rtf\n\n{\\rtf1", "{\\fonttbl{\\f1\\fcharset1"),
    ("Content-Type: text/rtf\n\n{\\rtf1", "\\bin1 "), ("Content-Type: text/rtf\n\n{\\rtf1", "\\"),
    ("Content-Type: text/enriched\n\n", "<param>"), ("Content-Type: text/plain; format=flowed\n\n", "> x \n"),
    ("Content-Type: text/plain; charset=utf-7\n\n", "+"),
    ("Content-Type: text/plain; charset=iso-2022-jp\n\n", "\u{1b}$B"),
    ("", "\u{301}"), ("", "\u{1100}"), ("", "が\u{3099}"), ("", "ﷺ"), ("", "会"), ("", "กิ"),
  ]

  @Test(arguments: markup) func markupTakesLinearTime(_ reader: Reader) throws {
    for unit in Self.markupUnits { try Self.check(reader, "", unit) }
  }

  @Test(arguments: mail) func mailTakesLinearTime(_ reader: Reader) throws {
    for (start, unit) in Self.mailUnits {
      try Self.check(reader, start, unit)
      // As CRLF, and at the end of something that is closed.
      try Self.check(reader, start, unit + "\n")
    }
  }

  private static func check(_ reader: Reader, _ start: String, _ unit: String) throws {
    var size = 16 << 10
    while true {
      let (small, large) = (try time(reader, start, unit, size), try time(reader, start, unit, 4 * size))
      // In nanoseconds: shorter ones say nothing, and linear ones need not be long.
      if large > 20_000_000 {
        // Text of several chunks is made twice: a single step between two sizes is not more than linear.
        if isSuperlinear(small, large), isSuperlinear(large, try time(reader, start, unit, 16 * size)) {
          let input = "\(reader.testDescription): \(start.debugDescription) + \(unit.debugDescription)"
          Issue.record("\(input): \(small) ns for \(size) bytes, \(large) for 4 times as many")
        }
        if large > 150_000_000 { return }
      }
      size *= 4
      if size > 1 << 20 { return }
    }
  }

  /// Compares the times of a size and of four times that size.
  private static func isSuperlinear(_ small: UInt64, _ large: UInt64) -> Bool {
    Double(large) > 9 * Double(max(small, 1))
  }

  private static func time(_ reader: Reader, _ start: String, _ unit: String, _ size: Int) throws -> UInt64 {
    let unit = Array(unit.utf8)
    var bytes = Array(start.utf8)
    bytes.reserveCapacity(size)
    while bytes.count < size { bytes += unit }
    let before = now
    try reader.read(bytes)
    return now - before
  }

  private static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
