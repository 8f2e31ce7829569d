import Bytes
import TestSupport
import Testing

@testable import Mail

/// Whether four times as much of something repeated takes four times as long, and not sixteen.
///
/// Compares CPU time, which depends on the machine: for the full run only.
@Suite(.serialized, .enabled(if: TestExtent.isFull, "takes minutes")) struct ScalingTests {
  static let markup = [
    LinearTimeReader("enriched") { _ = EnrichedText.text(of: $0) },
    LinearTimeReader("flowed") { _ = FlowedText.unflowed($0, deletesSpace: true) },
  ]

  static let mail = [
    LinearTimeReader("message") { bytes in
      let message = try Message(reading: ByteArraySource(bytes), isQuoted: true)
      _ = try message.words { _ in nil }
      _ = try message.headersText()
      if let html = message.html { _ = try message.open(html) }
    },
    LinearTimeReader("mailbox") { _ = try rows($0) },
    LinearTimeReader("headers") { bytes in
      let header = Header(bytes[...])
      for field in header.fields { _ = header.text(of: header.value(of: field)) }
    },
    LinearTimeReader("words") { _ = EncodedWords.decode($0[...]) },
    LinearTimeReader("address") { _ = MailAddress(firstOf: $0[...]) },
    LinearTimeReader("parameters") { _ = ContentType($0[...]).parameters.all },
    LinearTimeReader("date") { _ = MailDate($0[...]) },
    LinearTimeReader("subject") { _ = BaseSubject(String(decoding: $0, as: UTF8.self)) },
    LinearTimeReader("files in text") { _ = try InlineFile.find(in: ByteArraySource($0)) },
    LinearTimeReader("folded words") { _ = WordText.indexed($0) },
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

  @Test(arguments: markup) func markupTakesLinearTime(_ reader: LinearTimeReader) throws {
    for unit in LinearTimeReader.markupUnits { try reader.check("", unit) }
  }

  @Test(arguments: mail) func mailTakesLinearTime(_ reader: LinearTimeReader) throws {
    for (start, unit) in Self.mailUnits {
      try reader.check(start, unit)
      // As CRLF, and at the end of something that is closed.
      try reader.check(start, unit + "\n")
    }
  }
}
