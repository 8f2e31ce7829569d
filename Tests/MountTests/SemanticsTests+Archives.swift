import TestSupport

extension SemanticsTests {
  private static func files(_ names: String...) -> ZipFixture {
    ZipFixture(names.map { ZipFixtureEntry($0, "<\($0)>") })
  }
  private static let tree = "cd a.zip.contents && find . -mindepth 1 -printf '%y %P\\n' | sort"

  static let archives = [
    SemanticsExample(
      "leading /, ./, ../ are stripped", tree + "; cat a b c d", "f a\nf b\nf c\nf d\n</a><./b><../c><../.././/d>"
    ) {
      try $0.write("a.zip", files("/a", "./b", "../c", "../.././/d"))
    },
    SemanticsExample(
      "an inner ., .. or empty component, NUL or control character becomes ?", tree,
      "d a\nd a/?\nf a/?/b\nf n?l\nf t?b\n"
    ) {
      try $0.write("a.zip", files("a/../b", "n\u{0}l", "t\tb"))
    },
    SemanticsExample("backslashes stay", tree, "d c\nf a\\b\nf c/d\n") { try $0.write("a.zip", files("a\\b", "c/d")) },
    SemanticsExample("backslashes of Windows part folders", tree, "d a\nf a/b\nf top\n") {
      try $0.write("a.zip", files("a\\b", "top"))
    },
    SemanticsExample(
      "a component over 255 bytes is cut on a character boundary",
      "cd a.zip.contents; ls | tr -d '\\n' | wc -c -m; ls | iconv -f UTF-8 -t UTF-16 >/dev/null && echo valid",
      "    128     255\nvalid\n"
    ) { try $0.write("a.zip", files("x" + String(repeating: "\u{e4}", count: 200))) },
    SemanticsExample("a path over PATH_MAX goes under Too Deep/", tree, "d Too Deep\nf Too Deep/file\n") {
      try $0.write("a.zip", files(String(repeating: "folder/", count: 700) + "file"))
    },
    SemanticsExample(
      "the folder keeps the name, files become pet (1), foo (1).tar.gz; identical twice is still twice",
      options: ["-o", "views=-gz"], tree + "; cat 'pet (1)' foo.tar.gz 'foo (1).tar.gz' 'twice (1)'",
      "d pet\nf foo (1).tar.gz\nf foo.tar.gz\nf pet (1)\nf pet/cat\nf twice\nf twice (1)\n<pet><foo.tar.gz><foo.tar.gz><twice>"
    ) {
      try $0.write("a.zip", files("pet", "pet/cat", "foo.tar.gz", "foo.tar.gz", "twice", "twice"))
    },
    SemanticsExample(
      "a symlink that points inside its archive is a symlink; one that would leave it is a text file holding the target",
      tree + "; readlink d/in; cat d/in; cat d/out abs", "d d\nf abs\nf d/out\nf x\nl d/in\n../x\n<x>../../x/etc/passwd"
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("x", "<x>"), .link("d/in", to: "../x"), .link("d/out", to: "../../x"),
          .link("abs", to: "/etc/passwd")))
    },
    SemanticsExample(
      "-o symlinks=all shows it as a link", options: ["-o", "symlinks=all"], tree + "; readlink out abs",
      "l abs\nl out\n../x\n/etc/passwd\n"
    ) {
      try $0.write("a.zip", ZipFixture(.link("out", to: "../x"), .link("abs", to: "/etc/passwd")))
    },
    SemanticsExample(
      "names in UTF-8: the flag, the Unicode extra field, else detected, else CP437", tree,
      "f Gr\u{fc}n\nf \u{e9}\nf \u{fc}\nf \u{43b}\n"
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("\u{fc}", "1").with { $0.flags = 0x800 }, ZipFixtureEntry("\u{e9}", "2"),
          ZipFixtureEntry([0x47, 0x72, 0x81, 0x6e], [0x33]),
          ZipFixtureEntry("plain", "4").with {
            $0.centralExtra = ZipExtra.unicodePath("\u{43b}", for: Array("plain".utf8))
          }))
    },
    SemanticsExample(
      "-o charset= decodes names that declare no character set", options: ["-o", "charset=CP866"], tree, "f \u{416}\n"
    ) {
      try $0.write("a.zip", ZipFixture(ZipFixtureEntry([0x86], [0x31])))
    },
    SemanticsExample(
      "Unix modes, default 0755 and 0644 plus recorded x bits", "cd a.zip.contents; stat -c '%a %n' * folder/dos",
      "755 folder\n644 plain\n750 run\n644 folder/dos\n"
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("run", "x").unix(mode: 0o100750), ZipFixtureEntry("plain", "x"), ZipFixtureEntry("folder/"),
          ZipFixtureEntry("folder/dos", "x").with { $0.externalAttributes = 1 }))
    },
    SemanticsExample("empty folders, and folders without an entry of their own", tree, "d a\nd a/b\nd empty\nf a/b/c\n")
    { try $0.write("a.zip", ZipFixture(ZipFixtureEntry("empty/"), ZipFixtureEntry("a/b/c", "x"))) },
    SemanticsExample(
      "prefixed (self-extracting) and trailing junk: opened",
      "cat a.zip.contents/in.txt b.zip.contents/in.txt setup.exe.contents/in.txt c.zip.contents/in.txt",
      "insideinsideinsideinside"
    ) {
      var fixture = inside
      fixture.prefix = [UInt8](repeating: 0x4d, count: 70_000)
      try $0.write("a.zip", fixture)
      try $0.write("setup.exe", fixture)
      fixture.prefix = []
      fixture.trailer = [UInt8](repeating: 0x20, count: 3000)
      try $0.write("b.zip", fixture)
      fixture.prefix = Array("#!/bin/sh\n".utf8)
      fixture.countsPrefix = true
      fixture.comment = Array("PK\u{5}\u{6} is not the end".utf8)
      fixture.trailer = []
      try $0.write("c.zip", fixture)
    },
    SemanticsExample(
      "split in one file, ZIP64 anywhere: opened", "cat a.zip.contents/in.txt b.zip.contents/in.txt", "insideinside"
    ) {
      var fixture = inside
      fixture.prefix = [0x50, 0x4b, 7, 8]
      fixture.countsPrefix = true
      try $0.write("a.zip", fixture)
      var large = ZipFixture(ZipFixtureEntry("in.txt", "inside").with { $0.isZip64 = true })
      large.endsInZip64 = true
      try $0.write("b.zip", large)
    },
    SemanticsExample("no local headers: opened", "cat a.zip.contents/in.txt", "inside") {
      var layout = inside.layout()
      for byte in 0..<4 { layout.bytes[layout.localHeaders[0] + byte] = 0 }
      try $0.write("a.zip", layout.bytes)
    },
  ]
}
