import Bytes

extension Conformance {
  private static func archive(_ text: String) -> ZipFixture { ZipFixture(ZipFixtureEntry("in-\(text)", text)) }

  /// Changes in the source are visible in the mount.
  static let changes: [ConformanceCase] = [
    ConformanceCase("files that come, change and go are noticed") { source in
      try source.write("a", "old")
    } check: { mount in
      try same(try mount.tree.text("a"), "old", "before")
      try mount.source.write("a", "newer")
      try eventually { try same(try mount.tree.text("a"), "newer", "changed") }
      try eventually { try same(try mount.tree.stat("a").size, 5, "the changed size") }
      try mount.source.write("b", "come")
      try eventually { try same(try mount.tree.text("b"), "come", "come") }
      try mount.source.remove("a")
      try eventually { try fails(2, "gone") { try mount.tree.stat("a") } }
      try eventually { try same(try mount.tree.list("").texts, ["b"], "the names") }
    },

    ConformanceCase("a replaced archive gives a new tree") { source in
      try source.write("a.zip", archive("old"))
    } check: { mount in
      try same(try mount.tree.list("a.zip.contents").texts, ["in-old"], "before")
      try mount.source.write("b", archive("newer"))
      try mount.source.rename("b", to: "a.zip")
      try eventually { try same(try mount.tree.list("a.zip.contents").texts, ["in-newer"], "after") }
      try same(try mount.tree.text("a.zip.contents/in-newer"), "newer", "its content")
      try eventually { try fails(2, "what was in the old one") { try mount.tree.stat("a.zip.contents/in-old") } }
    },

    ConformanceCase("an archive rewritten in place gives a new tree") { source in
      try source.write("a.zip", archive("old"))
    } check: { mount in
      try same(try mount.tree.text("a.zip.contents/in-old"), "old", "before")
      try mount.source.write("a.zip", archive("newer"))
      try eventually { try same(try mount.tree.list("a.zip.contents").texts, ["in-newer"], "after") }
      try same(try mount.tree.text("a.zip.contents/in-newer"), "newer", "its content")
    },

    ConformanceCase("an archive of another name is the same archive") { source in
      try source.write("a.zip", archive("x"))
      try source.makeFolder("d")
    } check: { mount in
      // Its view is known, but nothing in it has been read.
      _ = try mount.tree.stat("a.zip.contents")
      try mount.source.rename("a.zip", to: "d/b.zip")
      try eventually { try same(try mount.tree.text("d/b.zip.contents/in-x"), "x", "under its new name") }
      try eventually { try fails(2, "under the old one") { try mount.tree.stat("a.zip.contents") } }
      try same(
        String(decoding: try mount.tree.attribute("d/b.zip.contents", "user.ffmount.source"), as: UTF8.self), "d/b.zip",
        "the source")
    },

    ConformanceCase("two names of one archive are two views") { source in
      try source.write("a.zip", archive("x"))
      try source.makeHardLink("b.zip", to: "a.zip")
    } check: { mount in
      try same(try mount.tree.text("a.zip.contents/in-x"), "x", "the first")
      try mount.source.remove("a.zip")
      try eventually { try same(try mount.tree.text("b.zip.contents/in-x"), "x", "the second") }
      try same(
        String(decoding: try mount.tree.attribute("b.zip.contents", "user.ffmount.source"), as: UTF8.self), "b.zip",
        "the source")
    },

    ConformanceCase("a damaged archive that is mended is read") { source in
      try source.write("a.zip", "not yet")
    } check: { mount in
      try fails(5, "before") { try mount.tree.list("a.zip.contents") }
      try mount.source.write("a.zip", archive("x"))
      try eventually { try same(try mount.tree.list("a.zip.contents").texts, ["in-x"], "after") }
    },

    ConformanceCase("one file as the source may be replaced", file: "a.zip") { source in
      try source.write("a.zip", archive("old"))
    } check: { mount in
      try same(try mount.tree.list("").texts, ["in-old"], "before")
      try mount.source.write("b", archive("newer"))
      try mount.source.rename("b", to: "a.zip")
      try eventually { try same(try mount.tree.list("").texts, ["in-newer"], "after") }
      try eventually { try same(try mount.tree.text("in-newer"), "newer", "its content") }
    },
  ]

  /// Damage affects only the damaged file.
  static let damage: [ConformanceCase] = [
    ConformanceCase("a damaged archive is a folder that says why it cannot be read") { source in
      try source.write("text.zip", "no archive, but long enough to be one")
      try source.write("empty.zip", "")
      try source.write("cut.zip", Array(archive("x").bytes().prefix(20)))
    } check: { mount in
      for name in ["text.zip", "empty.zip", "cut.zip"] {
        let path = FileName("\(name).contents")
        try same(try mount.tree.stat(path).kind, .folder, name)
        try fails(5, name) { try mount.tree.list(path) }
        try fails(5, name) { try mount.tree.stat(path.slash("in-x")) }
        let state = String(decoding: try mount.tree.attribute(path, "user.ffmount.state"), as: UTF8.self)
        try same(state, "failed", "the state of \(name)")
        let error = String(decoding: try mount.tree.attribute(path, "user.ffmount.error"), as: UTF8.self)
        try isTrue(error.contains(name) && error.contains("expected"), "the error of \(name): \(error)")
        try isTrue(try mount.tree.attributeNames(path).contains("user.ffmount.error"), "the error of \(name) is listed")
      }
    },

    ConformanceCase("a bad entry fails alone and says why") { source in
      try source.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("good", "fine"), ZipFixtureEntry("locked", "x").with { $0.flags = 1 },
          ZipFixtureEntry("method", "x").with { $0.method = 77 },
          ZipFixtureEntry("crc", "wrong").with { $0.claimedCRC = 1 }.deflated(),
          ZipFixtureEntry("stored crc", "wrong").with { $0.claimedCRC = 1 },
          ZipFixtureEntry("short", "less").with { $0.claimedSize = 5 }.deflated(),
          ZipFixtureEntry("after", "fine").deflated()))
    } check: { mount in
      let root: FileName = "a.zip.contents"
      try same(
        try mount.tree.list(root).texts, ["good", "locked", "method", "crc", "stored crc", "short", "after"],
        "the names")
      for name in names("good", "after") { try same(try mount.tree.text(root.slash(name)), "fine", name.text) }
      try fails(13, "locked") { try mount.tree.readAll("a.zip.contents/locked") }
      for name in names("method", "crc", "stored crc", "short") {
        try fails(5, name.text) { try mount.tree.readAll(root.slash(name)) }
      }
      for name in names("locked", "method", "crc", "stored crc", "short") {
        let state = String(decoding: try mount.tree.attribute(root.slash(name), "user.ffmount.state"), as: UTF8.self)
        try same(state, "failed", "the state of \(name.text)")
        let error = try mount.tree.attribute(root.slash(name), "user.ffmount.error")
        try isTrue(!error.isEmpty, "the error of \(name.text)")
      }
      try same(try mount.tree.stat("a.zip.contents/short").size, 5, "the size as claimed")
    },

    ConformanceCase("an archive whose end is lost shows what can be made out") { source in
      let entries = [
        ZipFixtureEntry("a", "one"), ZipFixtureEntry("d/b", "two").deflated(), ZipFixtureEntry("c", "three"),
      ]
      let layout = ZipFixture(entries).layout()
      try source.write("a.zip", Array(layout.bytes[..<(layout.data[2] + 2)]))
    } check: { mount in
      try same(
        try mount.tree.walk("a.zip.contents").texts, ["a", "d/", "d/b"].map { "a.zip.contents/\($0)" }, "the tree")
      try same(try mount.tree.text("a.zip.contents/d/b"), "two", "a file")
      let error = String(decoding: try mount.tree.attribute("a.zip.contents", "user.ffmount.error"), as: UTF8.self)
      try isTrue(error.contains("expected"), "the error: \(error)")
    },

    ConformanceCase("a directory that breaks off shows what came before") { source in
      var layout = ZipFixture((0..<4).map { ZipFixtureEntry("f\($0)", "x") }).layout()
      layout.bytes[layout.centralHeaders[2]] = 0
      try source.write("a.zip", layout.bytes)
    } check: { mount in
      try same(try mount.tree.list("a.zip.contents").texts, ["f0", "f1"], "the names")
      try same(try mount.tree.text("a.zip.contents/f1"), "x", "a file")
      let error = String(decoding: try mount.tree.attribute("a.zip.contents", "user.ffmount.error"), as: UTF8.self)
      try isTrue(error.contains("byte"), "the error: \(error)")
    },
  ]

  /// Large numbers.
  static let scale: [ConformanceCase] = [
    ConformanceCase("a folder of 20,000 names lists each once") { source in
      for index in 0..<20_000 { try source.write(FileName("file-\(index).txt"), []) }
      try source.write("a.zip", archive("x"))
    } check: { mount in
      let listed = try mount.tree.list("")
      try same(listed.count, 20_002, "the number of names")
      try same(Set(listed).count, 20_002, "the number of different names")
      try isTrue(try mount.tree.exists("file-19999.txt"), "the last is there")
    },

    ConformanceCase("an archive of 20,000 names lists each once, in order") { source in
      try source.write("a.zip", ZipFixture((0..<20_000).map { ZipFixtureEntry("f\($0)", "") }))
    } check: { mount in
      try same(try mount.tree.list("a.zip.contents").texts, (0..<20_000).map { "f\($0)" }, "the names")
      try isTrue(try mount.tree.exists("a.zip.contents/f19999"), "the last is there")
    },
  ]
}
