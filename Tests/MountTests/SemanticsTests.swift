import TestSupport
import Testing

/// An example of the contract with users: the contents of the source, and the output of a shell in the mount.
struct SemanticsExample: CustomTestStringConvertible, Sendable {
  /// The sentence of the contract.
  let testDescription: String
  var options: [String] = []
  let build: @Sendable (MountScratch) async throws -> Void
  /// Run by bash in the mount's root; `$S` is the source.
  let lines: String
  let output: String

  init(
    _ description: String, options: [String] = [], _ lines: String, _ output: String,
    build: @escaping @Sendable (MountScratch) async throws -> Void
  ) {
    testDescription = description
    self.options = options
    self.build = build
    self.lines = lines
    self.output = output
  }
}

/// Every example of the contract.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SemanticsTests {
  @Test(arguments: rules + listings + attributes + archives + mailboxes + conversions + tables + damage)
  func exampleHolds(_ example: SemanticsExample) async throws {
    try await withScratch { scratch in
      try await example.build(scratch)
      try await withMount(scratch, options: example.options) { mount in
        let lines = "export LC_ALL=C.UTF-8 S=\"$2\"; cd \"$1\" && { \(example.lines)\n} 2>&1"
        let result = try await shell(lines, mount.mountpoint, scratch.source, limit: 20)
        #expect(result.text == example.output)
      }
    }
  }

  private static let inside = ZipFixture(ZipFixtureEntry("in.txt", "inside"))

  private static func nest(_ levels: Int) -> ZipFixture {
    var archive = ZipFixture(ZipFixtureEntry("bottom", "reached"))
    for _ in 1..<levels { archive = ZipFixture(ZipFixtureEntry("n.zip", archive.bytes()).deflated()) }
    return archive
  }

  // MARK: One rule

  static let rules = [
    SemanticsExample(
      "Nothing that exists is ever hidden, renamed or changed: views stand beside",
      "ls; cmp photos.zip $S/photos.zip && echo same; cat photos.zip.contents/in.txt",
      "notes.txt\nphotos.zip\nphotos.zip.contents\nsame\ninside"
    ) {
      try $0.write("photos.zip", inside)
      try $0.write("notes.txt", "x")
    },
    SemanticsExample(
      "Views compose: an archive in an archive has its own",
      "cat a.zip.contents/n.zip.contents/n.zip.contents/bottom; ls a.zip.contents",
      "reachedn.zip\nn.zip.contents\n"
    ) { try $0.write("a.zip", nest(3)) },
    SemanticsExample(
      "Views compose: a view of a folder or a view is none", "ls -d folder.contents a.zip.contents.contents; true",
      "ls: cannot access 'folder.contents': No such file or directory\n"
        + "ls: cannot access 'a.zip.contents.contents': No such file or directory\n"
    ) {
      try $0.write("folder/x", "x")
      try $0.write("a.zip", inside)
    },
    SemanticsExample(
      "A real file always wins over a view of the same name", "ls; cat a.zip.contents; ls b.zip.contents",
      "a.zip\na.zip.contents\nb.zip\nb.zip.contents\nrealreal.txt\n"
    ) {
      try $0.write("a.zip", inside)
      try $0.write("a.zip.contents", "real")
      try $0.write("b.zip", inside)
      try $0.write("b.zip.contents/real.txt", "x")
    },
    SemanticsExample(
      "A real entry wins over a view inside an archive too", "ls a.zip.contents; cat a.zip.contents/b.zip.contents",
      "b.zip\nb.zip.contents\nreal"
    ) {
      try $0.write(
        "a.zip", ZipFixture(ZipFixtureEntry("b.zip", inside.bytes()), ZipFixtureEntry("b.zip.contents", "real")))
    },
    SemanticsExample(
      "A view whose name would pass 255 bytes is not listed",
      "ls | wc -l; ls | grep -c contents; n=$(printf 'x%.0s' {1..242}); cat $n.zip.contents/in.txt",
      "3\n1\ninside"
    ) {
      try $0.write(String(repeating: "x", count: 242) + ".zip", inside)
      try $0.write(String(repeating: "y", count: 243) + ".zip", inside)
    },
  ]

  // MARK: Listed or by name

  static let listings = [
    SemanticsExample(
      "Listing decides by extension, in any case", "ls", "A.ZIP\nA.ZIP.contents\nb.Zip\nb.Zip.contents\nc.zip.txt\n"
    ) {
      for name in ["A.ZIP", "b.Zip", "c.zip.txt"] { try $0.write(name, inside) }
    },
    SemanticsExample(
      "Looking a view up by name decides by content", "ls; cat notes.bin.contents/in.txt; ls text.bin.contents",
      "notes.bin\ntext.bin\ninsidels: cannot access 'text.bin.contents': No such file or directory\n"
    ) {
      try $0.write("notes.bin", inside)
      try $0.write("text.bin", "text")
    },
    SemanticsExample(
      "Only a file with no extension at all is looked at", "ls; cat archive.contents/in.txt",
      "archive\narchive.contents\nscript\ninside"
    ) {
      try $0.write("archive", inside)
      try $0.write("script", "#!/bin/sh")
    },
    SemanticsExample(
      "OOXML, ODF, EPUB, JAR, APK and wheel files are ZIPs: by name, not listed",
      "ls; for f in *; do cat $f.contents/in.txt; done",
      "a.apk\na.docx\na.epub\na.jar\na.odt\na.whl\na.xlsx\n" + String(repeating: "inside", count: 7)
    ) {
      for kind in ["docx", "xlsx", "odt", "epub", "jar", "apk", "whl"] { try $0.write("a.\(kind)", inside) }
    },
    SemanticsExample(
      "-o views=+docx lists more", options: ["-o", "views=+docx"], "ls",
      "a.docx\na.docx.contents\na.jar\na.zip\na.zip.contents\n"
    ) {
      for kind in ["docx", "jar", "zip"] { try $0.write("a.\(kind)", inside) }
    },
    SemanticsExample(
      "-o views=-zip lists fewer", options: ["-o", "views=-zip"], "ls; cat a.zip.contents/in.txt", "a.zip\ninside"
    ) { try $0.write("a.zip", inside) },
    SemanticsExample(
      "-o views=none: only what is named", options: ["-o", "views=none"],
      "ls; cat a.zip.contents/in.txt archive.contents/in.txt", "a.zip\narchive\ninsideinside"
    ) {
      try $0.write("a.zip", inside)
      try $0.write("archive", inside)
    },
    SemanticsExample(
      "find always ends: listings show views four archives deep",
      "find . -name '*.contents' | wc -l; n=n.zip.contents; cat a.zip.contents/$n/$n/$n/$n/$n/bottom",
      "4\nreached"
    ) { try $0.write("a.zip", nest(6)) },
    SemanticsExample(
      "-o depth=N", options: ["-o", "depth=1"], "find . | LC_ALL=C sort; cat a.zip.contents/n.zip.contents/bottom",
      ".\n./a.zip\n./a.zip.contents\n./a.zip.contents/n.zip\nreached"
    ) { try $0.write("a.zip", nest(2)) },
    SemanticsExample(
      "Listing opens nothing: ten thousand archives list at the speed of the folder", "ls -U | wc -l", "4000\n"
    ) {
      for number in 0..<2000 { try $0.write("\(number).zip", "") }
    },
    SemanticsExample(
      "A view whose source turns out to be something else is a folder that answers EIO; user.ffmount.error says why",
      "stat -c %F a.zip.contents; ls a.zip.contents; getfattr --only-values -n user.ffmount.error a.zip.contents | grep -c a.zip; "
        + "getfattr --only-values -n user.ffmount.state a.zip.contents",
      "directory\nls: cannot open directory 'a.zip.contents': Input/output error\n1\nfailed"
    ) { try $0.write("a.zip", "no archive at all, only text") },
    SemanticsExample(
      "An empty archive is an empty folder",
      "ls -A a.zip.contents; getfattr --only-values -n user.ffmount.state a.zip.contents", "exact"
    ) {
      try $0.write("a.zip", ZipFixture())
    },
  ]

  // MARK: Attributes

  static let attributes = [
    SemanticsExample(
      "st_size is exact for everything that comes out of a ZIP", "cd a.zip.contents; stat -c '%n %s %b' *; wc -c d s",
      "d 6 1\ns 1000 2\n   6 d\n1000 s\n1006 total\n"
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(ZipFixtureEntry("d", "inside").deflated(), ZipFixtureEntry("s", String(repeating: "x", count: 1000)))
      )
    },
    SemanticsExample(
      "st_mtime of a view is its source's; a ZIP entry's is the entry's",
      "stat -c '%n %.9Y' a.zip a.zip.contents a.zip.contents/in.txt",
      "a.zip 1000000000.123456789\na.zip.contents 1000000000.123456789\na.zip.contents/in.txt 1234567891.000000000\n"
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("in.txt", "x").with { $0.centralExtra = ZipExtra.extendedTimestamp(modified: 1_234_567_891) })
      )
      _ = try await run("touch", "-d", "@1000000000.123456789", $0.source + "/a.zip")
    },
    SemanticsExample(
      "A view's owner and permission bits are its source's, less what a read-only file cannot have",
      "stat -c '%n %a' *; [ $(stat -c %u:%g a.zip.contents/in.txt) = $(stat -c %u:%g $S/a.zip) ] && echo owner",
      "a.zip 640\na.zip.contents 550\nb.zip 666\nb.zip.contents 555\nowner\n"
    ) {
      try $0.write("a.zip", inside)
      try $0.write("b.zip", inside)
      _ = try await shell(
        "cd \"$1\"; chmod 640 a.zip; chmod 666 b.zip; [ $(id -u) != 0 ] || chown 1234:4321 a.zip", $0.source)
    },
    SemanticsExample(
      "Extended attributes say what a name cannot",
      "getfattr -d d/a.zip.contents d/a.zip.contents/in.txt d; getfattr -n user.ffmount.error d/a.zip.contents; "
        + "setfattr -n user.ffmount.state -v x d/a.zip.contents",
      """
      # file: d/a.zip.contents
      user.ffmount.source="d/a.zip"
      user.ffmount.state="exact"
      user.ffmount.view="contents"

      # file: d/a.zip.contents/in.txt
      user.ffmount.source="d/a.zip"
      user.ffmount.state="exact"
      user.ffmount.view="contents"

      d/a.zip.contents: user.ffmount.error: No such attribute
      setfattr: d/a.zip.contents: Read-only file system

      """
    ) { try $0.write("d/a.zip", inside) },
    SemanticsExample(
      "Listing or stat-ing never converts anything: what cannot be read has its size",
      "ls -l a.zip.contents | awk '{print $5, $9}'", " \n6 in.txt\n"
    ) {
      try $0.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside").with { $0.method = 97 }))
    },
  ]

  @Test func inodesAndBytesAreTheSameOnEveryMount() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", Self.nest(3))
      try scratch.write("b.zip", Self.nest(3))
      try scratch.write("folder/file", "x")
      let lines =
        "cd \"$1\"; find . -exec stat -c '%i %n' {} + | sort -k 2; find . -type f -print0 | sort -z | xargs -0 sha1sum"
      var seen: [String] = []
      for _ in 0..<2 {
        try await withMount(scratch) { mount in
          for _ in 0..<2 { seen.append(try await shell(lines, mount.mountpoint).text) }
        }
      }
      #expect(Set(seen).count == 1)
      let numbers = seen[0].split(separator: "\n").filter { $0.contains(" .") && !$0.contains("  ") }.compactMap {
        $0.split(separator: " ").first
      }
      #expect(numbers.count == 17)
      #expect(numbers.count == Set(numbers).count, "each thing has its own number")
    }
  }

  // MARK: ZIP

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
      tree + "; cat 'pet (1)' foo.tar.gz 'foo (1).tar.gz' 'twice (1)'",
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
    SemanticsExample("-o charset=", options: ["-o", "charset=CP866"], tree, "f \u{416}\n") {
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

  // MARK: When something is wrong

  static let damage = [
    SemanticsExample(
      "a size that nothing has is shown as the largest there is",
      "stat -c %s a.zip.contents/x.csv a.zip.contents/x.csv.as-txt; cat a.zip.contents/x.csv; echo; cat a.zip.contents/y",
      """
      72057594037927936
      72057594037927936
      cat: a.zip.contents/x.csv: Input/output error

      y
      """
    ) {
      try $0.write(
        "a.zip", ZipFixture(ZipFixtureEntry("x.csv").with { $0.claimedSize = .max }, ZipFixtureEntry("y", "y")))
    },
    SemanticsExample(
      "one bad entry never costs another: it is listed, and reading it is EIO, EACCES for passwords",
      "cd a.zip.contents; ls -U; for f in *; do cat $f | wc -c; done",
      """
      good
      locked
      method
      crc
      less
      more
      stored
      after
      5
      cat: crc: Input/output error
      0
      4
      cat: less: Input/output error
      0
      cat: locked: Permission denied
      0
      cat: method: Input/output error
      0
      cat: more: Input/output error
      0
      cat: stored: Input/output error
      0

      """
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("good", "fine"), ZipFixtureEntry("locked", "x").with { $0.flags = 1 },
          ZipFixtureEntry("method", "x").with { $0.method = 97 },
          ZipFixtureEntry("crc", "wrong").with { $0.claimedCRC = 1 }.deflated(),
          ZipFixtureEntry("less", "less").with { $0.claimedSize = 9 }.deflated(),
          ZipFixtureEntry("more", "more").with { $0.claimedSize = 2 }.deflated(),
          ZipFixtureEntry("stored", "wrong").with { $0.claimedCRC = 1 },
          ZipFixtureEntry("after", "fine!").deflated()))
    },
    SemanticsExample(
      "A damaged archive shows all that can be read; the reason is in user.ffmount.error",
      "ls a.zip.contents; cat a.zip.contents/f1; getfattr --only-values -n user.ffmount.error a.zip.contents | grep -c byte",
      "f0\nf1\nx1\n"
    ) {
      var layout = ZipFixture((0..<4).map { ZipFixtureEntry("f\($0)", "x") }).layout()
      layout.bytes[layout.centralHeaders[2]] = 0
      try $0.write("a.zip", layout.bytes)
    },
    SemanticsExample(
      "The reason an entry cannot be read is in its user.ffmount.error",
      "cat a.zip.contents/crc; getfattr --only-values -n user.ffmount.error a.zip.contents/crc | grep -ci crc",
      "cat: a.zip.contents/crc: Input/output error\n1\n"
    ) { try $0.write("a.zip", ZipFixture(ZipFixtureEntry("crc", "wrong").with { $0.claimedCRC = 1 }.deflated())) },
    SemanticsExample(
      "an archive of more names than memory has room for fails alone", options: ["-o", "memory=8M"],
      "ls a.zip.contents; getfattr --only-values -n user.ffmount.error a.zip.contents; echo; cat b.zip.contents/in.txt",
      """
      ls: cannot open directory 'a.zip.contents': Input/output error
      a.zip: it has more names than fit in 8 MiB of memory (-o memory=)
      inside
      """
    ) {
      let path = String(repeating: "a/", count: 1000)
      try $0.write("a.zip", ZipFixture((0..<200).map { ZipFixtureEntry("\($0)/\(path)f", "x") }))
      try $0.write("b.zip", inside)
    },
  ]

  @Test func oneLogLineSaysFileOffsetAndWhatWasExpected() async throws {
    try await withScratch { scratch in
      try scratch.write("d/a.zip", ZipFixture(ZipFixtureEntry("crc", "wrong").with { $0.claimedCRC = 1 }.deflated()))
      try scratch.write("b.zip", "no archive, but long enough for a header")
      try await withMount(scratch) { mount in
        for _ in 0..<3 {
          _ = try await shell("cd \"$1\"; cat d/a.zip.contents/crc; ls b.zip.contents", mount.mountpoint)
        }
        let lines = mount.daemon.saidSoFar.split(separator: "\n")
        #expect(lines.filter { $0.contains("d/a.zip.contents/crc") && $0.contains("expected") }.count == 1, "\(lines)")
        #expect(
          lines.filter { $0.contains("b.zip") && $0.contains("expected") && $0.contains("byte") }.count == 1, "\(lines)"
        )
      }
    }
  }
}
