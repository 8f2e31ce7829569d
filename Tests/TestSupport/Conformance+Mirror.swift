import Bytes

extension Conformance {
  /// The source is mirrored unchanged.
  static let mirror: [ConformanceCase] = [
    ConformanceCase("files are mirrored byte for byte") { source in
      var numbers = SeededNumbers(seed: 1)
      try source.makeFolder("deep")
      try source.makeFolder("deep/er")
      for size in [0, 1, 4095, 4096, 4097, 300_000] {
        try source.write(FileName("f\(size)"), numbers.bytes(size))
        try source.write(FileName("deep/er/f\(size)"), numbers.bytes(size))
      }
    } check: { mount in
      var numbers = SeededNumbers(seed: 1)
      for size in [0, 1, 4095, 4096, 4097, 300_000] {
        for path in ["f\(size)", "deep/er/f\(size)"] {
          let bytes = numbers.bytes(size)
          try sameBytes(try mount.tree.readAll(FileName(path)), bytes, path)
          try same(try mount.tree.stat(FileName(path)).size, Int64(size), path)
        }
      }
      try same(
        try mount.tree.walk("deep").sortedTexts,
        ["deep/er/"] + [0, 1, 300_000, 4095, 4096, 4097].map { "deep/er/f\($0)" }, "the tree")
    },

    ConformanceCase("any bytes are a name") { source in
      for name in oddNames { try source.write(name, Array(name.bytes)) }
    } check: { mount in
      try same(Set(try mount.tree.list("")), Set(oddNames), "the names")
      for name in oddNames { try sameBytes(try mount.tree.readAll(name), Array(name.bytes), name.text) }
    },

    ConformanceCase("modes, owners, times, sizes and numbers are the files' own") { source in
      try source.write("a", Array("hello".utf8), mode: 0o640)
      try source.write("program", Array("#!".utf8), mode: 0o4755)
      try source.makeFolder("d", mode: 0o1770)
      try source.makeHardLink("b", to: "a")
      _ = source.setOwner("program", 1234, 5678)
      for name in names("a", "program", "d") {
        try source.setModified(name, Timestamp(seconds: 1_234_567_890, nanoseconds: 123_456_789))
      }
    } check: { mount in
      for name in names("a", "b", "program", "d") {
        try same(try mount.tree.stat(name), try mount.source.status(name), name.text)
      }
    },

    ConformanceCase("links are shown as they are, wherever they lead") { source in
      try source.makeFolder("d")
      for (name, target) in linkTargets { try source.makeLink(name, to: target) }
    } check: { mount in
      for (name, target) in linkTargets {
        try same(FileName(try mount.tree.readLink(name)), target, name.text)
        try same(try mount.tree.stat(name).kind, .link, name.text)
        try same(try mount.tree.stat(name).size, Int64(target.count), name.text)
      }
      try fails(22, "a folder is no link") { try mount.tree.readLink("d") }
    },

    ConformanceCase("a fifo is shown and not opened") { source in
      try source.makeFifo("pipe")
    } check: { mount in
      try same(try mount.tree.list("").texts, ["pipe"], "the names")
      try same(try mount.tree.stat("pipe").kind, .other, "the kind")
    },

    ConformanceCase("sparse and huge files are read anywhere") { source in
      try source.writeSparse("huge", size: 6 << 30, tail: Array("the end".utf8))
    } check: { mount in
      try same(try mount.tree.stat("huge").size, 6 << 30, "the size")
      try sameBytes(
        try mount.tree.read("huge", at: (6 << 30) - 10, count: 100), [0, 0, 0] + Array("the end".utf8), "the end")
      try sameBytes(try mount.tree.read("huge", at: 5 << 30, count: 4), [0, 0, 0, 0], "the middle")
    },

    ConformanceCase("reading at the end and past it gives nothing") { source in
      try source.write("a", "hello")
    } check: { mount in
      try same(try mount.tree.read("a", at: 3, count: 100), Array("lo".utf8), "across the end")
      try same(try mount.tree.read("a", at: 5, count: 100), [], "at the end")
      try same(try mount.tree.read("a", at: 5000, count: 100), [], "past the end")
    },

    ConformanceCase("what is not there is ENOENT") { source in
      try source.write("a", "x")
      try source.makeFolder("d")
    } check: { mount in
      for path in names("b", "d/b", "A", "b.contents", ".contents", "..contents", "contents") {
        try fails(2, path.text) { try mount.tree.stat(path) }
      }
      try fails(20, "a file is no folder") { try mount.tree.stat("a/b") }
      try fails(20, "a file has no listing") { try mount.tree.list("a") }
      try fails(21, "a folder has no bytes") { try mount.tree.readAll("d") }
    },

    ConformanceCase("nothing is hidden") { source in
      for name in everyday { try source.write(FileName(name), "x") }
    } check: { mount in
      try same(try mount.tree.list("").sortedTexts, everyday.sorted(), "the names")
    },

    ConformanceCase("extended attributes are the files' own") { source in
      try source.write("a", "x")
      _ = try source.setAttribute("user.colour", of: "a", to: "blue")
    } check: { mount in
      guard try mount.source.setAttribute("user.colour", of: "a", to: "green") else {
        throw CannotBeShown(reason: "this file system has no extended attributes")
      }
      try same(String(decoding: try mount.tree.attribute("a", "user.colour"), as: UTF8.self), "green", "user.colour")
      try isTrue(try mount.tree.attributeNames("a").contains("user.colour"), "the attribute is listed")
      try fails(61, "one that is not there") { try mount.tree.attribute("a", "user.weight") }
      try fails(61, "a real file comes from no view") { try mount.tree.attribute("a", "user.ffmount.view") }
    },
  ]

  private static let oddNames: [FileName] = [
    FileName([0xff, 0xfe]), FileName([0x61, 0x80, 0x62]), FileName(Array(1...0x2e) + Array(0x30...0x7f)), " ", "-rf",
    "a\nb", "\\", "'\"", "*?[", "\u{e9}", "e\u{301}", FileName(Array(repeating: 0x6e, count: 255)),
  ]

  private static let linkTargets: [(FileName, FileName)] = [
    ("inside", "d"), ("dangling", "gone"), ("absolute", "/etc/passwd"), ("out", "../../.."), ("itself", "itself"),
    ("d/odd", FileName([0xff, 0x20])),
  ]

  private static let everyday = [
    ".hidden", ".zip", "x.contents", "y.as-jpeg", "a.zipped", "zip", "Thumbs.db", "a.war", "a.jar", "a.", "a.ZIPPY",
  ]
}
