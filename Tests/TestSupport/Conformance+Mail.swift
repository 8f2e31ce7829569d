import Bytes

extension Conformance {
  private static let separator = "From anna@example.com Fri May  3 10:00:00 2024\n"
  private static let head = "From: Example Sender <sender@example.com>\nDate: Fri, 3 May 2024 12:00:00 +0200\n"

  /// A message as stored in a mailbox.
  private static func mail(_ subject: String, _ rest: String = "\nhello\n") -> String {
    "\(separator)\(head)Subject: \(subject)\n\(rest)\n"
  }

  private static func folder(_ number: Int, _ subject: String) -> FileName {
    FileName("inbox.mbox.messages/\("00000\(number)".suffix(6)) 2024-05-03 Example Sender - \(subject)")
  }

  private static func multipart(_ kind: String, boundary: String = "b", _ parts: String...) -> String {
    "MIME-Version: 1.0\nContent-Type: multipart/\(kind); boundary=\(boundary)\n\n"
      + parts.map { "--\(boundary)\n\($0)\n" }.joined() + "--\(boundary)--\n"
  }

  private static func file(_ name: String, _ content: String = "x") -> String {
    "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"\(name)\"\n\n\(content)"
  }

  /// The contents of mail files.
  static let mail: [ConformanceCase] = [
    ConformanceCase("a mailbox has one folder a message, in its order") { source in
      try source.write("inbox.mbox", (1...700).map { mail($0 % 3 == 0 ? "same" : "m\($0)") }.joined())
    } check: { mount in
      try same(
        try mount.tree.list("inbox.mbox.messages"),
        (1...700).map { FileName(folder($0, $0 % 3 == 0 ? "same" : "m\($0)").bytes.dropFirst(20)) }, "the names")
      try fails(2, "a number that is another message's") { try mount.tree.stat(folder(2, "m1")) }
      try fails(2, "a number behind the last") { try mount.tree.stat(folder(701, "m701")) }
    },

    ConformanceCase("a line of text that starts with From is no separator") { source in
      try source.write(
        "inbox.mbox",
        mail("one", "\nFrom me to you\n\nFrom here on 3 May 2024\n") + String(mail("two").dropLast()) + mail("three"))
    } check: { mount in
      try same(try mount.tree.list("inbox.mbox.messages").count, 3, "the messages")
      try same(
        try mount.tree.text(folder(1, "one").slash("body.txt")), "From me to you\n\nFrom here on 3 May 2024\n\n",
        "the text")
    },

    ConformanceCase("the messages and the lines between them are the archive") { source in
      try source.write("inbox.mbox", mail("one", "\n>From quoted\r\n\tand odd \u{0}\n") + mail("two") + mail("three"))
    } check: { mount in
      var bytes: [UInt8] = []
      for name in try mount.tree.list("inbox.mbox.messages") {
        bytes += Array(separator.utf8)
        bytes += try mount.tree.readAll(FileName("inbox.mbox.messages").slash(name).slash("message.eml"))
      }
      try sameBytes(bytes, try mount.tree.readAll("inbox.mbox"), "the archive")
    },

    ConformanceCase("a name says position, date, sender and subject, and is safe") { source in
      try source.write(
        "inbox.mbox",
        mail("=?utf-8?Q?a/b_=07evil=E2=80=AEgpj=1B_=0A_c?=") + separator + "X-None: x\n\nx\n\n"
          + "From - \nX-None: x\n\nx\n\n"
          + mail(String(repeating: "\u{e4}", count: 100)))
    } check: { mount in
      try same(
        try mount.tree.list("inbox.mbox.messages").texts,
        [
          "000001 2024-05-03 Example Sender - a-b evilgpj c", "000002 2024-05-03 unknown sender - no subject",
          "000003 undated unknown sender - no subject",
          "000004 2024-05-03 Example Sender - " + String(repeating: "\u{e4}", count: 85),
        ], "the names")
    },

    ConformanceCase("a mailbox that grew shows what was added") { source in
      try source.write("inbox.mbox", mail("one") + mail("two"))
    } check: { mount in
      try same(try mount.tree.list("inbox.mbox.messages").count, 2, "before")
      try mount.source.write("inbox.mbox", mail("one") + mail("two") + mail("three"))
      try eventually { try same(try mount.tree.list("inbox.mbox.messages").count, 3, "after") }
      try eventually { try same(try mount.tree.text(folder(3, "three").slash("body.txt")), "hello\n\n", "the new one") }
    },

    ConformanceCase("a message's folder has what it is made of") { source in
      try source.write(
        "inbox.mbox", mail("plain") + mail("all", multipart("mixed", "Content-Type: text/html\n\n<p>x", file("f"))))
      try source.write("letter.eml", head + "\nhello")
    } check: { mount in
      try same(
        try mount.tree.list(folder(1, "plain")).texts, ["message.eml", "headers.txt", "body.txt"], "of a plain one")
      try same(
        try mount.tree.list(folder(2, "all")).texts,
        ["message.eml", "headers.txt", "body.txt", "body.html", "attachments"],
        "of one that has all")
      try same(try mount.tree.text("letter.eml.message/body.txt"), "hello", "of a file")
      try same(
        try mount.tree.text(folder(1, "plain").slash("headers.txt")), "\(head)Subject: plain\n", "the fields")
    },

    ConformanceCase("one > is taken off quoted lines, and not from message.eml") { source in
      try source.write("inbox.mbox", mail("x", "\n>From a\n>>From b\n> From c\n"))
      try source.write("letter.eml", head + "\n>From a\n")
    } check: { mount in
      try same(try mount.tree.text(folder(1, "x").slash("body.txt")), "From a\n>From b\n> From c\n\n", "the text")
      try isTrue(
        try mount.tree.text(folder(1, "x").slash("message.eml")).hasSuffix("\n>From a\n>>From b\n> From c\n\n"),
        "the bytes")
      try same(try mount.tree.text("letter.eml.message/body.txt"), ">From a\n", "of a file that is no mailbox")
    },

    ConformanceCase("text of no known character set is UTF-8 or Windows-1252") { source in
      let none = Array("\(head)Content-Type: text/plain; charset=none-such\n\n".utf8)
      try source.write("a.eml", Array("\(head)\nGr\u{fc}\u{df}e".utf8))
      try source.write("b.eml", none + [0x47, 0x72, 0xfc, 0xdf, 0x65, 0x20, 0x80])
      try source.write(
        "c.eml", "\(head)Content-Type: text/plain; format=flowed\n\none \nparagraph\n> quoted \n> one\n")
    } check: { mount in
      try same(try mount.tree.text("a.eml.message/body.txt"), "Gr\u{fc}\u{df}e", "UTF-8")
      try same(try mount.tree.text("b.eml.message/body.txt"), "Gr\u{fc}\u{df}e \u{20ac}", "Windows-1252")
      try same(try mount.tree.text("c.eml.message/body.txt"), "one paragraph\n> quoted one\n", "flowed")
    },

    ConformanceCase("links to parts lead into attachments") { source in
      try source.write(
        "letter.eml",
        head
          + multipart(
            "related", "Content-Type: text/html\n\n<img src=\"cid:p@x\">",
            "Content-Type: image/png; name=pic.png\nContent-ID: <p@x>\n\npixels"))
    } check: { mount in
      for page in ["body.html", "body.original.html"] {
        let html = try mount.tree.text(FileName(Array("letter.eml.message/\(page)".utf8)))
        try same(html.hasSuffix("<img src=\"attachments/pic.png\">"), true, "the link in \(page)")
      }
      try same(try mount.tree.text("letter.eml.message/attachments/pic.png"), "pixels", "the picture")
    },

    ConformanceCase("body.html runs nothing and asks for nothing, and body.original.html is as it came") { source in
      try source.write(
        "letter.eml",
        head
          + "Content-Type: text/html\n\n<script>x</script><p onclick=x>hello<img src=http://x/><a href=http://y/>z</a>")
    } check: { mount in
      let page = try mount.tree.text("letter.eml.message/body.html")
      try same(
        page.hasSuffix("<p>hello<img src=\"about:invalid\"><a href=\"http://y/\">z</a>"), true, "the page, \(page)")
      try same(page.contains("default-src 'none'"), true, "the policy")
      try same(
        try mount.tree.text("letter.eml.message/body.original.html"),
        "<script>x</script><p onclick=x>hello<img src=http://x/><a href=http://y/>z</a>", "the original")
      try same(
        try mount.tree.list("letter.eml.message").texts, ["message.eml", "headers.txt", "body.txt", "body.html"],
        "what is listed")
    },

    ConformanceCase("attachments have their names, made safe, and each its own") { source in
      let names = ["a.txt", "a.txt", "../../etc/passwd", "C:\\\\x\\\\plan.dat", "..", "b.tar.gz", "b.tar.gz"]
      try source.write(
        "letter.eml",
        head + "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
          + names.enumerated().map { "--b\n\(file($1, "\($0)"))\n" }.joined() + "--b--\n")
    } check: { mount in
      let shown = ["a.txt", "a (1).txt", "passwd", "plan.dat", "part-6.bin", "b.tar.gz", "b (1).tar.gz"]
      let listed = shown.flatMap { $0.hasSuffix(".gz") ? [$0, $0 + ".contents"] : [$0] }
      try same(try mount.tree.list("letter.eml.message/attachments").texts, listed, "the names")
      for (number, name) in shown.enumerated() {
        try same(try mount.tree.text(FileName("letter.eml.message/attachments/\(name)")), "\(number)", name)
      }
    },

    ConformanceCase("files written into the text are attachments") { source in
      try source.write("letter.eml", head + "\nbefore\nbegin 644 cat.txt\n#0V%T\n`\nend\nafter\n")
    } check: { mount in
      try same(try mount.tree.text("letter.eml.message/attachments/cat.txt"), "Cat", "the file")
      try same(try mount.tree.text("letter.eml.message/body.txt"), "before\nafter\n", "the text")
    },

    ConformanceCase("a message that is attached is an .eml with a folder beside it") { source in
      let inner = "Subject: inner\n" + multipart("mixed", boundary: "c", file("deep.txt", "deep"))
      try source.write("letter.eml", head + multipart("mixed", "Content-Type: message/rfc822\n\n\(inner)"))
    } check: { mount in
      try same(
        try mount.tree.list("letter.eml.message/attachments").texts, ["inner.eml", "inner.eml.message"], "the names")
      try isTrue(
        try mount.tree.text("letter.eml.message/attachments/inner.eml").hasPrefix("Subject: inner\n"), "the message")
      try same(
        try mount.tree.text("letter.eml.message/attachments/inner.eml.message/attachments/deep.txt"), "deep",
        "what is attached to it")
    },

    ConformanceCase("what is in a message has its date and its archive's owner and permissions") { source in
      try source.write(
        "inbox.mbox", Array((mail("x", multipart("mixed", file("f"))) + separator + "X-None: x\n\nx\n").utf8),
        mode: 0o640)
    } check: { mount in
      let archive = try mount.tree.stat("inbox.mbox")
      let message = folder(1, "x")
      for (path, mode) in [
        (message, 0o750), (message.slash("message.eml"), 0o640), (message.slash("attachments"), 0o750),
        (message.slash("attachments/f"), 0o640),
      ] {
        let found = try mount.tree.stat(path)
        try same(found.modified, Timestamp(seconds: 1_714_730_400), "the date of \(path.text)")
        try same(found.permissions, UInt16(mode), "the rights of \(path.text)")
        try same([found.owner, found.group], [archive.owner, archive.group], "the owner of \(path.text)")
      }
      try same(
        try mount.tree.stat("inbox.mbox.messages/000002 2024-05-03 unknown sender - no subject").modified,
        Timestamp(seconds: 1_714_730_400), "the separator's date")
      try same(try mount.tree.stat("inbox.mbox.messages").modified, archive.modified, "the date of the view")
    },

    ConformanceCase("sizes in a message are exact before it is read") { source in
      try source.write(
        "inbox.mbox",
        mail(
          "x",
          multipart("mixed", "Content-Type: text/html; charset=iso-8859-1\n\n<p>gr\u{fc}n\n<p>x", file("f", "1234"))))
    } check: { mount in
      let message = folder(1, "x")
      for name: FileName in ["message.eml", "headers.txt", "body.txt", "body.html", "attachments/f"] {
        let size = try mount.tree.stat(message.slash(name)).size
        try same(size, Int64(try mount.tree.readAll(message.slash(name)).count), "the size of \(name.text)")
      }
    },

    ConformanceCase("numbers of mail are stable over mounts and each thing has its own") { source in
      try source.write("inbox.mbox", mail("one", multipart("mixed", file("f"), file("g"))) + mail("two"))
    } check: { mount in
      let paths = try mount.tree.walk()
      let numbers = try paths.map { try mount.tree.stat($0).inode }
      let isOwn = try paths.map { path in
        try !path.text.hasPrefix("inbox.mbox.views/") || mount.tree.stat(path).kind == .folder
      }
      let own = Set(zip(numbers, isOwn).filter(\.1).map(\.0))
      try same(own.count, isOwn.count { $0 }, "different numbers")
      try isTrue(own.isSuperset(of: numbers), "a file has one number in all views")
      let again = try mount.again()
      try same(try paths.map { try again.stat($0).inode }, numbers, "the numbers")
    },

    ConformanceCase("a mailbox that is none says so, and an empty one is an empty folder") { source in
      try source.write("text.mbox", "no mailbox at all, only text\n")
      try source.write("empty.mbox", "")
      try source.write("mended.mbox", "not yet\n")
    } check: { mount in
      try same(try mount.tree.stat("text.mbox.messages").kind, .folder, "the kind")
      try fails(5, "its names") { try mount.tree.list("text.mbox.messages") }
      try fails(5, "a name in it") { try mount.tree.stat("text.mbox.messages/000001 x") }
      let error = String(decoding: try mount.tree.attribute("text.mbox.messages", "user.ffmount.error"), as: UTF8.self)
      try isTrue(error.contains("text.mbox") && error.contains("expected"), "the error: \(error)")
      try same(try mount.tree.list("empty.mbox.messages"), [], "the names in an empty one")
      try fails(5, "before") { try mount.tree.list("mended.mbox.messages") }
      try mount.source.write("mended.mbox", mail("x"))
      try eventually { try same(try mount.tree.list("mended.mbox.messages").count, 1, "after") }
    },

    ConformanceCase("a mailbox is found by its content where its name says nothing") { source in
      try source.write("Inbox", mail("x").replacing("anna@example.com", with: "-"))
      try source.write("notes.txt", mail("x"))
      try source.write("prose.txt", "From me to you\nwith regards\n")
      try source.makeFolder("Mail.mbox")
      try source.write("Mail.mbox/mbox", mail("x"))
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        ["Inbox", "Inbox.messages", "Inbox.views", "Mail.mbox", "Mail.mbox.views", "notes.txt", "prose.txt"],
        "the names")
      try same(
        try mount.tree.list("Mail.mbox").sortedTexts, ["mbox", "mbox.messages", "mbox.views"], "in an Apple bundle")
      try same(try mount.tree.list("notes.txt.messages").count, 1, "by name")
      try fails(2, "prose") { try mount.tree.stat("prose.txt.messages") }
    },
  ]
}
