import Bytes

extension Conformance {
  private static let one = ZipFixture(ZipFixtureEntry("in.txt", "inside"))
  private static let letter = "From: a@example.org\nDate: Fri, 3 May 2024 10:00:00 +0000\nSubject: s\n\ntext\n"
  private static let letters = "From a@example.org Fri May  3 10:00:00 2024\n" + letter

  /// Mail in each form, beside an archive with the same and an archive.
  private static func fill(_ source: SourceFolder) throws {
    try source.write("in.mbox", letters)
    try source.write("letter.eml", letter)
    for folder in ["Maildir", "Maildir/cur", "Maildir/new", "Maildir/tmp"] { try source.makeFolder(FileName(folder)) }
    try source.write("Maildir/cur/1:2,S", letter)
    try source.write(
      "top.zip",
      ZipFixture(
        ZipFixtureEntry("in.mbox", letters), ZipFixtureEntry("Inbox", letters), ZipFixtureEntry("letter.eml", letter),
        ZipFixtureEntry("in.zip", one.bytes()), ZipFixtureEntry("Maildir/cur/1:2,S", letter),
        ZipFixtureEntry("Maildir/new/", ""), ZipFixtureEntry("Maildir/tmp/", "")))
  }

  /// The views that exist, listed and by name.
  static let views: [ConformanceCase] = [
    ConformanceCase("a view is listed right behind its file") { source in
      for name in ["a.zip", "b.ZIP", "c.Cbz", "d e.zip", "f.zipx"] { try source.write(FileName(name), one) }
      for name in ["a.txt", "b.war", "c.jar", "z"] { try source.write(FileName(name), "x") }
    } check: { mount in
      let listed = try mount.tree.list("").texts
      try same(listed.count, 14, "the number of names")
      for name in ["a.zip", "b.ZIP", "c.Cbz", "d e.zip", "f.zipx"] {
        guard let place = listed.firstIndex(of: name) else { throw Nonconformance(description: "\(name) is missing") }
        try same(listed[place + 1], name + ".contents", "what follows \(name)")
      }
    },

    ConformanceCase("a listing opens nothing: any .zip has its view") { source in
      try source.write("text.zip", "no archive")
      try source.write("empty.zip", "")
      try source.makeFolder("folder.zip")
      try source.makeLink("link.zip", to: "text.zip")
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        ["empty.zip", "empty.zip.contents", "folder.zip", "link.zip", "text.zip", "text.zip.contents"], "the names")
      try fails(2, "a folder's view") { try mount.tree.stat("folder.zip.contents") }
    },

    ConformanceCase("something real wins over a view of its name") { source in
      try source.write("a.zip", one)
      try source.write("a.zip.contents", "real")
      try source.write("b.zip", one)
      try source.makeFolder("b.zip.contents")
      try source.write("b.zip.contents/mine", "real")
      try source.write("c.zip", one)
      try source.makeLink("c.zip.contents", to: "gone")
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        ["a.zip", "a.zip.contents", "b.zip", "b.zip.contents", "c.zip", "c.zip.contents"], "the names")
      try same(try mount.tree.text("a.zip.contents"), "real", "the file")
      try same(try mount.tree.list("b.zip.contents").texts, ["mine"], "the folder")
      try same(try mount.tree.stat("c.zip.contents").kind, .link, "the link")
    },

    ConformanceCase("a view by name goes by the content") { source in
      for name in ["notes.bin", "a.war", "b.jar", "no extension", ".dot", "c.d.e"] {
        try source.write(FileName(name), one)
      }
      try source.write("text.bin", "no archive at all, but longer than an end record")
      try source.write("short.bin", "PK")
      try source.write("nothing.bin", "")
      try source.makeFolder("d.bin")
      try source.makeLink("l.bin", to: "notes.bin")
    } check: { mount in
      for name in ["notes.bin", "a.war", "b.jar", "no extension", ".dot", "c.d.e"] {
        try same(try mount.tree.text(FileName("\(name).contents/in.txt")), "inside", name)
      }
      for name in ["text.bin", "short.bin", "nothing.bin", "d.bin", "l.bin", "gone.bin"] {
        try fails(2, name) { try mount.tree.stat(FileName("\(name).contents")) }
      }
      try isTrue(!(try mount.tree.list("").texts.contains("notes.bin.contents")), "a view by name is not listed")
    },

    ConformanceCase("a file without an extension is looked at") { source in
      try source.write("archive", one)
      try source.write("empty archive", ZipFixture())
      try source.write("text", "PK is how it starts")
      try source.write("nothing", "")
      try source.makeFifo("pipe")
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        ["archive", "archive.contents", "empty archive", "empty archive.contents", "nothing", "pipe", "text"],
        "the names")
    },

    ConformanceCase("in views, listings show only what opens a file") { source in
      try fill(source)
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        [
          "Maildir", "Maildir.views", "in.mbox", "in.mbox.messages", "in.mbox.views", "letter.eml",
          "letter.eml.message",
          "top.zip", "top.zip.contents",
        ], "beside real files")
      try same(
        try mount.tree.list("top.zip.contents").sortedTexts,
        [
          "Inbox", "Inbox.messages", "Maildir", "in.mbox", "in.mbox.messages", "in.zip", "in.zip.contents",
          "letter.eml", "letter.eml.message",
        ], "in an archive")
      for name in ["in.mbox", "Inbox", "Maildir"] {
        let sorted = FileName("top.zip.contents/\(name).views/by-date/2024")
        try same(try mount.tree.list(sorted).texts, ["05"], "\(name) by name")
      }
    },

    ConformanceCase("views=all lists the same views everywhere", options: .init(preset: "all")) { source in
      try fill(source)
    } check: { mount in
      try same(
        try mount.tree.list("top.zip.contents").sortedTexts,
        [
          "Inbox", "Inbox.messages", "Inbox.views", "Maildir", "in.mbox", "in.mbox.messages", "in.mbox.views", "in.zip",
          "in.zip.contents", "letter.eml", "letter.eml.message",
        ], "in an archive")
    },

    ConformanceCase("views=folders lists what opens a file, and nothing twice", options: .init(preset: "folders")) {
      source in
      try fill(source)
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        [
          "Maildir", "in.mbox", "in.mbox.messages", "letter.eml", "letter.eml.message", "top.zip", "top.zip.contents",
        ], "beside real files")
      try same(try mount.tree.list("in.mbox.views/by-date/2024").texts, ["05"], "by name")
    },

    ConformanceCase("one file as the source is quiet as a view", file: "top.zip") { source in
      try source.write(
        "top.zip", ZipFixture(ZipFixtureEntry("in.mbox", letters), ZipFixtureEntry("in.zip", one.bytes())))
    } check: { mount in
      try same(
        try mount.tree.list("").texts, ["in.mbox", "in.mbox.messages", "in.zip", "in.zip.contents"], "the names")
      try same(try mount.tree.list("in.mbox.views/by-date/2024").texts, ["05"], "by name")
    },

    ConformanceCase("views=none lists nothing and names keep working", options: .init(preset: "none")) { source in
      try source.write("a.zip", one)
      try source.write("archive", one)
    } check: { mount in
      try same(try mount.tree.list("").sortedTexts, ["a.zip", "archive"], "the names")
      try same(try mount.tree.text("a.zip.contents/in.txt"), "inside", "by name")
      try same(try mount.tree.text("archive.contents/in.txt"), "inside", "by name")
    },

    ConformanceCase(
      "extensions are added and taken away", options: .init(added: ["war", "jar"], removed: ["cbz"])
    ) { source in
      for name in ["a.zip", "b.cbz", "c.war", "d.JAR", "e.aar"] { try source.write(FileName(name), one) }
    } check: { mount in
      try same(
        try mount.tree.list("").sortedTexts,
        ["a.zip", "a.zip.contents", "b.cbz", "c.war", "c.war.contents", "d.JAR", "d.JAR.contents", "e.aar"],
        "the names")
      try same(try mount.tree.text("b.cbz.contents/in.txt"), "inside", "by name")
    },

    ConformanceCase("a view's name has at most 255 bytes") { source in
      for count in [242, 243] {
        try source.write(FileName(String(repeating: "n", count: count) + ".zip"), one)
      }
    } check: { mount in
      try same(
        Set(try mount.tree.list("").map(\.count)), [246, 247, 255], "the lengths of the names")
    },

    ConformanceCase("archives in archives are views of views") { source in
      try source.write("top.zip", nest(of: 3, deflated: false))
      try source.write("deflated.zip", nest(of: 3, deflated: true))
    } check: { mount in
      for top in ["top.zip", "deflated.zip"] {
        let path = "\(top).contents/n3.zip.contents/n2.zip.contents/n1.zip.contents"
        try same(try mount.tree.text(FileName(path + "/in.txt")), "inside", path)
        try same(
          try mount.tree.list(FileName("\(top).contents")).texts, ["n3.zip", "n3.zip.contents", "t3"], "the first level"
        )
        try same(try mount.tree.text(FileName("\(top).contents/n3.zip.contents/t2")), "text 2", "between")
      }
    },

    ConformanceCase("listings stop four archives deep, names do not") { source in
      try source.write("top.zip", nest(of: 8, deflated: true))
    } check: { mount in
      var path = "top.zip.contents"
      for level in stride(from: 8, through: 1, by: -1) {
        let isListed = try mount.tree.list(FileName(path)).texts.contains("n\(level).zip.contents")
        try same(isListed, level > 5, "a view listed in \(path)")
        path += "/n\(level).zip.contents"
      }
      try same(try mount.tree.text(FileName(path + "/in.txt")), "inside", "the deepest")
    },

    ConformanceCase("depth=1 lists views of real files only", options: .init(depth: 1)) { source in
      try source.write("top.zip", nest(of: 2, deflated: false))
    } check: { mount in
      try same(try mount.tree.list("").texts.count, 2, "the root")
      try same(try mount.tree.list("top.zip.contents").texts, ["n2.zip", "t2"], "inside")
      try same(try mount.tree.text("top.zip.contents/n2.zip.contents/t1"), "text 1", "by name")
    },

    ConformanceCase("depth=0 lists no views", options: .init(depth: 0)) { source in
      try source.write("top.zip", one)
    } check: { mount in
      try same(try mount.tree.list("").texts, ["top.zip"], "the root")
      try same(try mount.tree.text("top.zip.contents/in.txt"), "inside", "by name")
    },

    ConformanceCase("an entry wins over a view of its name") { source in
      try source.write(
        "a.zip", ZipFixture(ZipFixtureEntry("b.zip", one.bytes()), ZipFixtureEntry("b.zip.contents", "mine")))
    } check: { mount in
      try same(try mount.tree.list("a.zip.contents").texts, ["b.zip", "b.zip.contents"], "the names")
      try same(try mount.tree.text("a.zip.contents/b.zip.contents"), "mine", "the file")
    },

    ConformanceCase("one file as the source shows its contents", file: "photos.zip") { source in
      try source.write(
        "photos.zip", ZipFixture(ZipFixtureEntry("a/b.txt", "x"), ZipFixtureEntry("in.zip", one.bytes())))
      try source.write("other", "not shown")
    } check: { mount in
      try same(
        try mount.tree.walk().texts, ["a/", "a/b.txt", "in.zip", "in.zip.contents/", "in.zip.contents/in.txt"],
        "the tree")
      try same(try mount.tree.text("a/b.txt"), "x", "a file")
      try same(try mount.tree.stat("").kind, .folder, "the root")
      try same(try mount.tree.stat("").inode, try mount.again().stat("").inode, "the root's number")
    },

    ConformanceCase("one file as the source goes by its content", file: "notes.bin") { source in
      try source.write("notes.bin", one)
    } check: { mount in
      try same(try mount.tree.walk().texts, ["in.txt"], "the tree")
    },
  ]

  /// Nested archives, `n1.zip` with `in.txt` the innermost, with `t1` and so on beside them.
  static func nest(of levels: Int, deflated: Bool) -> ZipFixture {
    (1...levels).reduce(one) { inner, level in
      let entry = ZipFixtureEntry("n\(level).zip", inner.bytes())
      return ZipFixture(deflated ? entry.deflated() : entry, ZipFixtureEntry("t\(level)", "text \(level)"))
    }
  }
}
