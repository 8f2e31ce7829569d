import Bytes

extension Conformance {
  /// A message as stored in a mailbox, by its fields except the date.
  private static func mail(_ day: String?, _ fields: String, _ rest: String = "\nhello\n") -> String {
    let date = day.map { "Date: Fri, \($0) 12:00:00 +0200\n" } ?? ""
    return "From - \n\(date)\(fields)\n\(rest)\n"
  }

  private static func attached(_ name: String, _ content: String = "x") -> String {
    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
      + "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"\(name)\"\n\n\(content)\n--b--\n"
  }

  /// The names in a folder of the views.
  private static func names(_ mount: ConformanceMount, _ path: String) throws -> [String] {
    try mount.tree.list(FileName("inbox.mbox.views/\(path)")).texts
  }

  /// The views of a mailbox.
  static let mailViews: [ConformanceCase] = [
    ConformanceCase("a mailbox's messages are sorted by date, sender, thread and label") { source in
      try source.write(
        "inbox.mbox",
        mail("3 May 2024", "From: A <A@Example.com>\nMessage-ID: <1@x>\nSubject: Plan\nX-Gmail-Labels: Inbox,Work/A")
          + mail("4 May 2024", "From: a@example.COM\nIn-Reply-To: <1@x>\nSubject: Re: Plan\nX-Gmail-Labels: Work")
          + mail(nil, "From: b@example.com\nSubject: Plan"))
    } check: { mount in
      let one = "000001 2024-05-03 A - Plan"
      let two = "000002 2024-05-04 a@example.COM - Re- Plan".replacing("Re-", with: "Re:")
      let three = "000003 undated b@example.com - Plan"
      try same(try names(mount, ""), ["by-date", "by-sender", "by-thread", "by-label", "search"], "the views")
      try same(try names(mount, "by-date"), ["2024", "undated"], "the years")
      try same(try names(mount, "by-date/2024"), ["05"], "the months")
      try same(try names(mount, "by-date/2024/05"), [one, two], "a month")
      try same(try names(mount, "by-date/undated"), [three], "what has no date")
      try same(try names(mount, "by-sender"), ["a@example.com", "b@example.com"], "the senders")
      try same(try names(mount, "by-sender/a@example.com"), [one, two], "a sender")
      try same(try names(mount, "by-thread"), ["Plan", "Plan (1)"], "the threads")
      try same(try names(mount, "by-thread/Plan"), [one, two], "a thread")
      try same(try names(mount, "by-label"), ["Inbox", "Work"], "the labels")
      try same(try names(mount, "by-label/Work"), ["A", two], "a label with one below it")
      try same(try names(mount, "by-label/Work/A"), [one], "a label below another")
      try same(try mount.tree.text(FileName("inbox.mbox.views/by-label/Work/A/\(one)/body.txt")), "hello\n\n", "a text")
      for wrong in ["by-date/2024/05/\(three)", "by-date/2023", "by-sender/a@example.com/\(three)", "deleted", "x"] {
        try fails(2, wrong) { try mount.tree.stat(FileName("inbox.mbox.views/\(wrong)")) }
      }
    },

    ConformanceCase("attachments of all messages are in one folder") { source in
      try source.write(
        "inbox.mbox",
        mail("3 May 2024", "From: Example Sender <a@x>\nSubject: 1\n" + attached("report.txt", "first"), "")
          + mail("3 May 2024", "From: a@x\nSubject: 2")
          + mail("3 May 2024", "From: Example Sender <a@x>\nSubject: 3\n" + attached("report.txt", "third"), "")
          + mail("4 May 2024", "From: b@x\nSubject: 4\nX-Mozilla-Status: 0009"))
    } check: { mount in
      try same(
        try names(mount, ""),
        [
          "by-date", "by-sender", "by-thread", "with-attachments", "attachments", "by-attachment-type",
          "by-attachment-sender", "by-attachment-year", "deleted", "search",
        ],
        "the views")
      let carriers = ["000001 2024-05-03 Example Sender - 1", "000003 2024-05-03 Example Sender - 3"]
      try same(try names(mount, "with-attachments"), carriers, "the messages that have some")
      try same(try names(mount, "deleted"), ["000004 2024-05-04 b@x - 4"], "what is marked as deleted")
      let files = try names(mount, "attachments")
      try same(
        files, ["2024-05-03 Example Sender - report.txt", "2024-05-03 Example Sender - report (1).txt"], "the files")
      try same(try mount.tree.text(FileName("inbox.mbox.views/attachments/\(files[1])")), "third", "a file")
      let original = try mount.tree.stat(FileName("inbox.mbox.messages/\(carriers[1])/attachments/report.txt"))
      let shown = try mount.tree.stat(FileName("inbox.mbox.views/attachments/\(files[1])"))
      try same(shown.inode, original.inode, "the number")
      try same(shown.modified, original.modified, "the date")
      try same(shown.size, 5, "the size")
    },

    ConformanceCase("attachments are sorted by type, sender and year") { source in
      try source.write(
        "inbox.mbox",
        mail("3 May 2024", "From: Anna <A@x>\nSubject: 1\n" + attached("report.PDF", "first"), "")
          + mail("3 May 2024", "From: Anna <a@x>\nSubject: 2\n" + attached("report.pdf", "second"), "")
          + mail("4 May 2023", "From: b@x\nSubject: 3\n" + attached("photo.jpeg", "third"), "")
          + mail("4 May 2023", "From: b@x\nSubject: 4\n" + attached("photo.jpg", "fourth"), "")
          + mail("4 May 2023", "From: c@x\nSubject: 5\n" + attached("README", "fifth"), ""))
    } check: { mount in
      func sorted(_ name: String) throws -> [String: [String]] {
        try Dictionary(
          uniqueKeysWithValues: names(mount, name).map { inner in
            // The files' own views are beside them.
            (inner, try names(mount, "\(name)/\(inner)").filter { $0.hasPrefix("20") && !$0.hasSuffix(".pages") })
          })
      }
      let files = ["Anna - report.PDF", "Anna - report.pdf"].map { "2024-05-03 \($0)" }
      let photos = ["b@x - photo.jpeg", "b@x - photo.jpg"].map { "2023-05-04 \($0)" }
      let other = "2023-05-04 c@x - README"
      func plain(_ found: [String: [String]]) -> [String: [String]] {
        found.mapValues { $0.filter { (files + photos + [other]).contains($0) } }
      }
      try same(
        plain(sorted("by-attachment-type")), ["pdf": files, "jpg": photos, "other": [other]], "the types")
      try same(
        plain(sorted("by-attachment-sender")), ["a@x": files, "b@x": photos, "c@x": [other]], "the senders")
      try same(plain(sorted("by-attachment-year")), ["2024": files, "2023": photos + [other]], "the years")
      let path = "inbox.mbox.views/by-attachment-type/jpg/\(photos[0])"
      try same(try mount.tree.text(FileName(path)), "third", "a file")
      try same(
        try mount.tree.stat(FileName(path)).inode,
        try mount.tree.stat(FileName("inbox.mbox.views/attachments/\(photos[0])")).inode, "the number")
      try fails(2, "a file of another type") {
        try mount.tree.stat(FileName("inbox.mbox.views/by-attachment-type/pdf/\(photos[0])"))
      }
      try fails(2, "a type of nothing") { try mount.tree.list("inbox.mbox.views/by-attachment-type/gif") }
    },

    ConformanceCase("views of what is no mailbox say so, and those of an empty one are none") { source in
      try source.write("text.mbox", "no mailbox at all, only text\n")
      try source.write("empty.mbox", "")
    } check: { mount in
      try fails(5, "its names") { try mount.tree.list("text.mbox.views") }
      try fails(5, "a view") { try mount.tree.list("text.mbox.views/by-date") }
      let error = String(decoding: try mount.tree.attribute("text.mbox.views", "user.ffmount.error"), as: UTF8.self)
      try isTrue(error.contains("expected a mailbox"), "the error: \(error)")
      try same(try mount.tree.list("empty.mbox.views"), [], "the names in those of an empty one")
    },
  ]
}
