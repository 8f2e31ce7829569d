import Bytes

extension Conformance {
  /// The contents of archives.
  static let archives: [ConformanceCase] = [
    ConformanceCase("an archive's tree is there, in its order") { source in
      try source.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("z", "1"), ZipFixtureEntry("d/y", "2").deflated(), ZipFixtureEntry("empty/"),
          ZipFixtureEntry("d/e/x", ""), ZipFixtureEntry("b", "3")))
    } check: { mount in
      try same(
        try mount.tree.walk("a.zip.contents").texts,
        ["z", "d/", "d/y", "d/e/", "d/e/x", "empty/", "b"].map { "a.zip.contents/\($0)" }, "the tree")
      try same(try mount.tree.text("a.zip.contents/d/y"), "2", "a file")
      try same(try mount.tree.text("a.zip.contents/d/e/x"), "", "an empty file")
    },

    ConformanceCase("an empty archive is an empty folder") { source in
      try source.write("a.zip", ZipFixture())
    } check: { mount in
      try same(try mount.tree.list("a.zip.contents"), [], "the names")
      try same(try mount.tree.stat("a.zip.contents").kind, .folder, "the kind")
      try fails(2, "a name in it") { try mount.tree.stat("a.zip.contents/x") }
    },

    ConformanceCase("names that hurt are made safe and none is lost") { source in
      try source.write(
        "a.zip",
        ZipFixture(
          ["../../up", "/abs", "a/../b", "nul\u{0}l", "pet", "pet", "pet/cat", "", "back\\slash", "Ж"].map {
            ZipFixtureEntry($0, "<\($0)>")
          }))
    } check: { mount in
      try same(
        try mount.tree.walk("a.zip.contents").map { String($0.text.dropFirst(15)) },
        [
          "up", "abs", "a/", "a/?/", "a/?/b", "nul?l", "pet (1)", "pet (2)", "pet/", "pet/cat", "?", "back\\slash", "Ж",
        ], "the tree")
      try same(try mount.tree.text("a.zip.contents/up"), "<../../up>", "a file")
      try same(try mount.tree.text("a.zip.contents/Ж"), "<Ж>", "a file")
    },

    ConformanceCase("a link that stays inside is a link, another is a text") { source in
      try source.write(
        "a.zip", ZipFixture(.link("d/in", to: "../x"), .link("d/out", to: "../../x"), .link("abs", to: "/etc/passwd")))
    } check: { mount in
      try same(try mount.tree.readLink("a.zip.contents/d/in"), Array("../x".utf8), "inside")
      try same(try mount.tree.stat("a.zip.contents/d/in").kind, .link, "inside")
      try same(try mount.tree.stat("a.zip.contents/d/in").size, 4, "inside")
      try same(try mount.tree.text("a.zip.contents/d/out"), "../../x", "outside")
      try same(try mount.tree.stat("a.zip.contents/abs").kind, .file, "absolute")
    },

    ConformanceCase("any byte of a long entry is read at any offset") { source in
      let bytes = longContent
      try source.write(
        "a.zip",
        ZipFixture(ZipFixtureEntry("stored", bytes), ZipFixtureEntry("deflated", bytes).deflated()))
    } check: { mount in
      let bytes = longContent
      for name in names("a.zip.contents/stored", "a.zip.contents/deflated") {
        var numbers = SeededNumbers(seed: 2)
        for _ in 0..<40 {
          let offset = numbers.below(bytes.count)
          let count = numbers.below(70_000)
          let part = try mount.tree.read(name, at: Int64(offset), count: count)
          try sameBytes(part, Array(bytes[offset..<min(bytes.count, offset + count)]), "\(name.text) at \(offset)")
        }
        try sameBytes(try mount.tree.readAll(name), bytes, name.text)
        try same(try mount.tree.read(name, at: Int64(bytes.count), count: 10), [], "the end")
      }
    },

    ConformanceCase("prefixed archives and trailing junk are opened") { source in
      var fixture = ZipFixture(ZipFixtureEntry("in.txt", "inside").deflated())
      fixture.prefix = Array("#!/bin/sh\n".utf8)
      fixture.trailer = Array("junk".utf8)
      try source.write("a.zip", fixture)
      try source.write("setup.exe", fixture)
    } check: { mount in
      try same(try mount.tree.text("a.zip.contents/in.txt"), "inside", "listed")
      try same(try mount.tree.text("setup.exe.contents/in.txt"), "inside", "by name")
    },
  ]

  private static let longContent: [UInt8] = {
    var numbers = SeededNumbers(seed: 9)
    return numbers.bytes(3_333_333)
  }()

  /// The stat(2) and getxattr(2) results of views and their contents.
  static let attributes: [ConformanceCase] = [
    ConformanceCase("a view has its source's owner, time and permissions") { source in
      try source.write("a.zip", ZipFixture(ZipFixtureEntry("in", "x")).bytes(), mode: 0o640)
      try source.write("run.csv", Array("a,b\n".utf8), mode: 0o755)
      try source.write("read.csv", Array("a,b\n".utf8), mode: 0o444)
      _ = source.setOwner("a.zip", 1234, 5678)
      try source.setModified("a.zip", Timestamp(seconds: 1_111_111_111, nanoseconds: 222_222_222))
    } check: { mount in
      let real = try mount.source.status("a.zip")
      let view = try mount.tree.stat("a.zip.contents")
      try same(view.kind, .folder, "the kind")
      try same(view.permissions, 0o750, "the mode")
      try same(try mount.tree.stat("run.csv.as-txt").permissions, 0o644, "a file's mode")
      try same(try mount.tree.stat("read.csv.as-txt").permissions, 0o444, "a protected file's mode")
      try same(view.owner, real.owner, "the owner")
      try same(view.group, real.group, "the group")
      try same(view.modified, real.modified, "the time")
      try isTrue(view.links > 0, "a folder has links")
      let entry = try mount.tree.stat("a.zip.contents/in")
      try same(entry.owner, real.owner, "the entry's owner")
      try same(entry.group, real.group, "the entry's group")
    },

    ConformanceCase("an entry has its own size, mode and time") { source in
      try source.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("file", "12345").unix(mode: 0o100750).with {
            $0.centralExtra = ZipExtra.extendedTimestamp(modified: 1_000_000_007)
          },
          ZipFixtureEntry("folder/").unix(mode: 0o040711).with {
            $0.centralExtra = ZipExtra.ntfs(
              modified: ZipExtra.ntfsTicks(seconds: 1_500_000_000, hundredNanoseconds: 42))
          }, ZipFixtureEntry("plain", "x")))
    } check: { mount in
      let file = try mount.tree.stat("a.zip.contents/file")
      try same(file.size, 5, "the size")
      try same(file.permissions, 0o750, "the mode")
      try same(file.modified, Timestamp(seconds: 1_000_000_007), "the time")
      let folder = try mount.tree.stat("a.zip.contents/folder")
      try same(folder.permissions, 0o711, "the folder's mode")
      try same(folder.modified, Timestamp(seconds: 1_500_000_000, nanoseconds: 4200), "the folder's time")
      try same(try mount.tree.stat("a.zip.contents/plain").permissions, 0o644, "the usual mode")
    },

    ConformanceCase("numbers are stable over mounts and each thing has its own") { source in
      try source.write("a.zip", nest(of: 2, deflated: true))
      try source.write("b.zip", nest(of: 2, deflated: true))
      try source.makeFolder("d")
      try source.write("d/a.zip", nest(of: 1, deflated: false))
    } check: { mount in
      let other = try mount.again()
      let paths = try mount.tree.walk()
      try same(paths.count, 25, "the number of paths")
      var seen: [UInt64: String] = [:]
      for path in paths {
        let plain = path.bytes.last == 0x2f ? FileName(path.bytes.dropLast()) : path
        let status = try mount.tree.stat(plain)
        try same(try other.stat(plain), status, path.text)
        if let present = seen.updateValue(path.text, forKey: status.inode) {
          throw Nonconformance(description: "\(present) and \(path.text) have one number")
        }
      }
    },

    ConformanceCase("views say where they come from") { source in
      try source.makeFolder("d")
      try source.write("d/a.zip", nest(of: 1, deflated: false))
    } check: { mount in
      func value(_ path: FileName, _ key: String) throws -> String {
        String(decoding: try mount.tree.attribute(path, "user.ffmount.\(key)"), as: UTF8.self)
      }
      for path in names("d/a.zip.contents", "d/a.zip.contents/t1") {
        try same(try value(path, "source"), "d/a.zip", "the source of \(path.text)")
        try same(try value(path, "view"), "contents", "the view of \(path.text)")
        try same(try value(path, "state"), "exact", "the state of \(path.text)")
        try fails(61, "no error of \(path.text)") { try value(path, "error") }
        try same(
          Set(try mount.tree.attributeNames(path)), ["user.ffmount.source", "user.ffmount.view", "user.ffmount.state"],
          "the attributes of \(path.text)")
      }
      try same(
        try value("d/a.zip.contents/n1.zip.contents", "source"), "d/a.zip.contents/n1.zip",
        "the source of a view in a view")
      try fails(61, "a real folder comes from no view") { try value("d", "source") }
    },
  ]
}
