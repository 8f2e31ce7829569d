import TestSupport

extension SemanticsTests {
  private static let separator = "From anna@example.com Fri May  3 10:00:00 2024\n"
  private static let head = "From: Example Sender <sender@example.com>\nDate: Fri, 3 May 2024 12:00:00 +0200\n"
  private static let one = separator + head + "Subject: Q3 numbers\n\nhello\n\n"
  private static let folder = "000001 2024-05-03 Example Sender - Q3 numbers"

  /// A message with these fields and body, as stored in a mailbox.
  private static func mail(_ fields: String, _ body: String) -> String {
    separator + head + fields + "\n\n" + body + "\n"
  }

  /// A message with these attachments: their fields and bodies.
  private static func carrier(_ parts: (String, String)...) -> String {
    let text = "--b\nContent-Type: text/plain\n\nthe text\n"
    let rest = parts.map { "--b\n\($0.0)\n\n\($0.1)\n" }.joined()
    return mail(
      "Subject: carrier\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b", text + rest + "--b--\n")
  }

  private static func attached(_ name: String, _ content: String = "x") -> (String, String) {
    ("Content-Type: application/octet-stream\nContent-Disposition: attachment; \(name)", content)
  }

  /// A ZIP as base64, with `in.txt` in it.
  private static let packed =
    (
      "Content-Type: application/zip; name=a.zip\nContent-Transfer-Encoding: base64",
      ZipFixture(
        ZipFixtureEntry("in.txt", "inside")
      ).bytes().base64
    )

  static let mailboxes = [
    SemanticsExample(
      "inbox.mbox is the archive itself, byte for byte; inbox.mbox.messages/ has one folder a message, in archive order",
      "ls; cmp inbox.mbox $S/inbox.mbox && echo same; ls -U inbox.mbox.messages",
      """
      inbox.mbox
      inbox.mbox.messages
      inbox.mbox.views
      same
      000001 2024-05-03 Example Sender - Q3 numbers
      000002 2024-05-03 Example Sender - no subject
      000003 2024-05-03 Example Sender - Q3 numbers

      """
    ) { try $0.write("inbox.mbox", one + mail("X-Empty: yes", "x\n") + one) },
    SemanticsExample(
      "Message folder: at most 120 characters, cut on a character boundary",
      "ls inbox.mbox.messages; ls inbox.mbox.messages | tr -d '\\n' | wc -m",
      "000001 2024-05-03 Example Sender - " + String(repeating: "\u{e4}", count: 85) + "\n120\n"
    ) { try $0.write("inbox.mbox", mail("Subject: " + String(repeating: "\u{e4}", count: 100), "x\n")) },
    SemanticsExample(
      "/, control characters and bidi overrides never appear", "ls inbox.mbox.messages",
      "000001 2024-05-03 Example Sender - a-b evilgpj.exe c\n"
    ) {
      try $0.write("inbox.mbox", mail("Subject: =?utf-8?Q?a/b_=07evil=E2=80=AEgpj.exe=1B_=0A_c?=", "x\n"))
    },
    SemanticsExample(
      "message.eml: the exact bytes of the archive, without the From_ line",
      "(head -n 1 inbox.mbox; cat inbox.mbox.messages/*/message.eml) | cmp - inbox.mbox && echo same", "same\n"
    ) { try $0.write("inbox.mbox", mail("Subject: x", ">From quoted\n\tand\r\nodd\u{0}\n")) },
    SemanticsExample(
      "headers.txt: decoded headers, UTF-8, one a line", "cat inbox.mbox.messages/*/headers.txt",
      "From: Example Sender <sender@example.com>\nDate: Fri, 3 May 2024 12:00:00 +0200\nSubject: Gr\u{fc}\u{df}e aus\n"
    ) { try $0.write("inbox.mbox", mail("Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\n aus", "x\n")) },
    SemanticsExample(
      "body.txt: best plain text, UTF-8; one level of >From unquoted", "cat inbox.mbox.messages/*/body.txt",
      "Gr\u{fc}\u{df}e\nFrom here\n>From there\n\n"
    ) {
      try $0.write(
        "inbox.mbox",
        Array(mail("MIME-Version: 1.0\nContent-Type: text/plain; charset=iso-8859-1", "Gr").utf8).dropLast()
          + [0xfc, 0xdf] + Array("e\n>From here\n>>From there\n\n".utf8))
    },
    SemanticsExample(
      "body.txt: from HTML when there is no text part; body.html: when there is one",
      "cd inbox.mbox.messages/000001*; ls; cat body.txt; grep -c '<b>' body.html",
      "body.html\nbody.txt\nheaders.txt\nmessage.eml\nbold & plain\n1\n"
    ) { try $0.write("inbox.mbox", mail("Content-Type: text/html", "<p><b>bold</b> &amp; plain</p>\n")) },
    SemanticsExample(
      "body.html: cid: images point into attachments/",
      "cd inbox.mbox.messages/000001*; grep -o 'src=\"[^\"]*\"' body.html; cat attachments/pic.png",
      "src=\"attachments/pic.png\"\npixels"
    ) {
      try $0.write(
        "inbox.mbox",
        mail(
          "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b",
          "--b\nContent-Type: text/html\n\n<img src=\"cid:pic@x\">\n"
            + "--b\nContent-Type: image/png; name=pic.png\nContent-ID: <pic@x>\n\npixels\n--b--\n"))
    },
    SemanticsExample(
      "attachments/: decoded; their own names, made safe; a clash gets \" (1)\" before the extension",
      options: ["-o", "views=-as-pdf"],
      "cd inbox.mbox.messages/000001*/attachments; ls -U; cat 'a (1).txt'; cat passwd",
      "a.txt\na (1).txt\npasswd\nplan.doc\nevilgpj.exe\n\u{fc}.txt\nb.tar.gz\nb.tar.gz.contents\nb (1).tar.gz\nb (1).tar.gz.contents\ntworoot"
    ) {
      try $0.write(
        "inbox.mbox",
        carrier(
          attached("filename=a.txt", "one"), attached("filename=\"a.txt\"", "two"),
          attached("filename=\"../../etc/passwd\"", "root"), attached("filename=\"C:\\\\Users\\\\bob\\\\plan.doc\""),
          attached("filename*=UTF-8''evil%E2%80%AEgpj.exe"), attached("filename=\"=?utf-8?B?w7wudHh0?=\""),
          attached("filename=b.tar.gz"), attached("filename=b.tar.gz")))
    },
    SemanticsExample(
      "an attachment that is a ZIP has .contents/; a message that is attached is an .eml and has .message/",
      "cd inbox.mbox.messages/000001*/attachments; ls; cat a.zip.contents/in.txt; cat inner.eml.message/body.txt; "
        + "cat inner.eml.message/attachments/a.zip.contents/in.txt",
      "a.zip\na.zip.contents\ninner.eml\ninner.eml.message\ninsidethe inner textinside"
    ) {
      try $0.write(
        "inbox.mbox",
        carrier(
          packed,
          (
            "Content-Type: message/rfc822",
            "From: b@example.com\nSubject: inner\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=c\n\n"
              + "--c\nContent-Type: text/plain\n\nthe inner text\n--c\n\(packed.0)\n\n\(packed.1)\n--c--\n"
          )))
    },
    SemanticsExample(
      "uuencoded files in the text are attachments, and not in the text",
      "cd inbox.mbox.messages/000001*; cat attachments/hello.txt body.txt", "hello\nbefore\nafter\n\n"
    ) { try $0.write("inbox.mbox", mail("Subject: uu", "before\nbegin 644 hello.txt\n&:&5L;&\\*\n`\nend\nafter\n")) },
    SemanticsExample(
      "a message folder's st_mtime is the message's Date, and so is that of all in it; without one it is the From_ line's",
      "cd inbox.mbox.messages; stat -c '%Y' 000001*  000001*/message.eml 000001*/body.txt 000002*",
      "1714730400\n1714730400\n1714730400\n1714730400\n"
    ) { try $0.write("inbox.mbox", one + separator + "Subject: no date\n\nx\n") },
    SemanticsExample(
      "st_size is exact for everything that comes out of an MBOX",
      "cd inbox.mbox.messages/000001*; for f in *.* attachments/*.zip; do [ $(stat -c %s $f) = $(cat $f | wc -c) ] && echo $f; done",
      "body.txt\nheaders.txt\nmessage.eml\nattachments/a.zip\n"
    ) { try $0.write("inbox.mbox", carrier(packed)) },
    SemanticsExample(
      "an .eml in the source has .message/",
      "ls; ls a.eml.message; cat a.eml.message/body.txt; "
        + "getfattr --only-values -n user.ffmount.view a.eml.message",
      "a.eml\na.eml.message\nbody.txt\nheaders.txt\nmessage.eml\n>From here\nmessage"
    ) { try $0.write("a.eml", head + "\n>From here\n") },
    SemanticsExample(
      "Only a file with no extension at all is looked at: Thunderbird's Inbox is a mailbox; so is mbox in an Apple bundle",
      "ls; ls Inbox.messages | wc -l; ls Mail.mbox",
      "Inbox\nInbox.messages\nInbox.views\nMail.mbox\nMail.mbox.views\nscript\n1\nmbox\nmbox.messages\nmbox.views\n"
    ) {
      try $0.write("Inbox", one.replacing("anna@example.com", with: "-"))
      try $0.write("script", "From the start\n")
      try $0.write("Mail.mbox/mbox", one)
    },
    SemanticsExample(
      "Listed by extension, in any case: .mbox, .mbx, .eml", "ls",
      "a.MBOX\na.MBOX.messages\na.MBOX.views\nb.mbx\nb.mbx.messages\nb.mbx.views\nc.Eml\nc.Eml.message\nd.txt\n"
    ) { for name in ["a.MBOX", "b.mbx", "c.Eml", "d.txt"] { try $0.write(name, one) } },
    SemanticsExample(
      "Looking a view up by name decides by content: notes.txt.messages if notes.txt is a mailbox",
      "ls; ls notes.txt.messages | wc -l; ls plain.txt.messages",
      "notes.txt\nplain.txt\n1\nls: cannot access 'plain.txt.messages': No such file or directory\n"
    ) {
      try $0.write("notes.txt", one)
      try $0.write("plain.txt", "From me to you\nwith regards\n")
    },
    SemanticsExample(
      "A mailbox that is none is a folder that answers EIO; user.ffmount.error says why; an empty one is an empty folder",
      "stat -c %F a.mbox.messages; ls a.mbox.messages; getfattr --only-values -n user.ffmount.error a.mbox.messages | grep -c a.mbox; "
        + "getfattr --only-values -n user.ffmount.state a.mbox.messages; ls -A empty.mbox.messages",
      "directory\nls: cannot open directory 'a.mbox.messages': Input/output error\n1\nfailed"
    ) {
      try $0.write("a.mbox", "no mailbox at all, only text\n")
      try $0.write("empty.mbox", "")
    },
    SemanticsExample(
      "A mailbox inside a ZIP has its own, which hold each message once; find always ends",
      "ls a.zip.contents; find . -name message.eml | wc -l; cat a.zip.contents/in.mbox.messages/000001*/body.txt; "
        + "ls a.zip.contents/in.mbox.views/by-date",
      "in.mbox\nin.mbox.messages\n1\nhello\n\n2024\n"
    ) { try $0.write("a.zip", ZipFixture(ZipFixtureEntry("in.mbox", one).deflated())) },
    SemanticsExample(
      "-o views=all lists all views of a mailbox inside a ZIP", options: ["-o", "views=all"],
      "ls a.zip.contents; find . -name message.eml | wc -l", "in.mbox\nin.mbox.messages\nin.mbox.views\n4\n"
    ) { try $0.write("a.zip", ZipFixture(ZipFixtureEntry("in.mbox", one).deflated())) },
    SemanticsExample(
      "-o views=-mbox lists fewer; names keep working", options: ["-o", "views=-mbox"],
      "ls; ls inbox.mbox.messages | wc -l", "inbox.mbox\n1\n"
    ) { try $0.write("inbox.mbox", one) },
    SemanticsExample(
      "Extended attributes of mail say what a name cannot",
      "getfattr -d --absolute-names d/inbox.mbox.messages/000001*/body.txt",
      "# file: d/inbox.mbox.messages/\(folder)/body.txt\nuser.ffmount.source=\"d/inbox.mbox\"\nuser.ffmount.state=\"exact\"\n"
        + "user.ffmount.view=\"messages\"\n\n"
    ) { try $0.write("d/inbox.mbox", one) },
    SemanticsExample(
      "A view's owner and permission bits are its source's: mail",
      "stat -c %a inbox.mbox.messages inbox.mbox.messages/* inbox.mbox.messages/*/message.eml", "750\n750\n640\n"
    ) {
      try $0.write("inbox.mbox", one)
      _ = try await shell("chmod 640 \"$1/inbox.mbox\"", $0.source)
    },
  ]
}

extension [UInt8] {
  /// In lines, as in mail.
  fileprivate var base64: String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: count, by: 3) {
      let group = self[start..<Swift.min(start + 3, count)]
      let bits = (0..<3).reduce(0) { $0 << 8 | (start + $1 < count ? Int(self[start + $1]) : 0) }
      for place in 0..<4 { text.append(place <= group.count ? digits[bits >> (18 - 6 * place) & 63] : 0x3d) }
      if start % 57 == 54 { text.append(0x0a) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
