import TestSupport
import Testing

/// Every example of the contract.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SemanticsTests {
  static let examples = rules + listings + attributes + archives + mailboxes + conversions + tables + damage

  @Test(arguments: examples.filter { $0.hasOwnMount })
  func exampleMatchesItsOutput(_ example: SemanticsExample) async throws {
    try await withScratch { scratch in
      try await example.build(scratch)
      try await withMount(scratch, options: example.options) { mount in
        let said = try await example.said(in: mount.mountpoint, of: scratch.source)
        #expect(said == example.output)
      }
    }
  }

  /// Those that need no options, in one mount, which has a directory for each.
  @Test func examplesInOneMountMatchTheirOutput() async throws {
    try await withScratch { scratch in
      var folders: [(SemanticsExample, MountScratch, String)] = []
      for (number, example) in Self.examples.filter({ !$0.hasOwnMount }).enumerated() {
        let folder = MountScratch("\(number)", in: scratch)
        try await example.build(folder)
        folders.append((example, folder, "\(number)/source"))
      }
      try await withMount(scratch) { mount in
        for (example, folder, path) in folders {
          let said = try await example.said(in: "\(mount.mountpoint)/\(path)", of: folder.source)
          // Paths in messages are relative to the mount.
          #expect(said.replacing(path + "/", with: "") == example.output, "\(example.testDescription)")
        }
      }
    }
  }

  static let inside = ZipFixture(ZipFixtureEntry("in.txt", "inside"))

  static func nest(_ levels: Int) -> ZipFixture {
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
      "OOXML, ODF, EPUB, JAR, APK and wheel files are ZIPs: by name, not listed", options: ["-o", "views=-as-pdf"],
      "ls; for f in *; do cat $f.contents/in.txt; done",
      "a.apk\na.docx\na.epub\na.jar\na.odt\na.whl\na.xlsx\n" + String(repeating: "inside", count: 7)
    ) {
      for kind in ["docx", "xlsx", "odt", "epub", "jar", "apk", "whl"] { try $0.write("a.\(kind)", inside) }
    },
    SemanticsExample(
      "-o views=+docx lists more", options: ["-o", "views=+docx:-as-pdf"], "ls",
      "a.docx\na.docx.contents\na.jar\na.zip\na.zip.contents\n"
    ) {
      for kind in ["docx", "jar", "zip"] { try $0.write("a.\(kind)", inside) }
    },
    SemanticsExample(
      "-o views=-zip lists fewer", options: ["-o", "views=-zip"], "ls; cat a.zip.contents/in.txt", "a.zip\ninside"
    ) { try $0.write("a.zip", inside) },
    SemanticsExample("-o views=none:+zip", options: ["-o", "views=none:+zip"], "ls", "a.zip\na.zip.contents\nb.mbox\n")
    {
      try $0.write("a.zip", inside)
      try $0.write("b.mbox", "From a@b Fri May  3 10:00:00 2024\nSubject: x\n\nx\n")
    },
    SemanticsExample(
      "-o views=none: only what is named", options: ["-o", "views=none"],
      "ls; cat a.zip.contents/in.txt archive.contents/in.txt", "a.zip\narchive\ninsideinside"
    ) {
      try $0.write("a.zip", inside)
      try $0.write("archive", inside)
    },
    SemanticsExample(
      "A program that copies the mount copies the source, and a view that it names",
      """
      ls; for c in 'cp -r .' 'rsync -a ./' 'rsync -a --delete ./'; do $c $S.copy && diff -r $S $S.copy; done
      tar -cf - . | tar -tf - | sort; cp -r a.zip.contents $S.named; find $S.named -type f | wc -l; ls | wc -l
      """, "a.zip\na.zip.contents\nd\n./\n./a.zip\n./d/\n./d/b.zip\n2\n3\n"
    ) {
      try $0.write("a.zip", nest(2))
      try $0.write("d/b.zip", inside)
    },
    SemanticsExample(
      "-o copiers=ls hides views from more programs", options: ["-o", "copiers=ls:mine"], "ls; echo *",
      "a.zip\na.zip a.zip.contents\n"
    ) { try $0.write("a.zip", inside) },
    SemanticsExample(
      "-o copiers=none: copies are what ls lists", options: ["-o", "copiers=none"],
      "cp -r . $S.copy; diff -r . $S.copy && ls $S.copy", "a.zip\na.zip.contents\n"
    ) { try $0.write("a.zip", inside) },
    SemanticsExample(
      "-o views= applies to all programs", options: ["-o", "views=+docx"],
      "cp -r . $S.copy; diff -r . $S.copy && ls $S.copy", "a.zip\na.zip.contents\n"
    ) { try $0.write("a.zip", inside) },
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
      "an entry past a limit fails alone", options: ["-o", "max_ratio=100,max_size=3M"],
      """
      cd a.zip.contents; ls -U
      for f in *; do cat $f | wc -c; getfattr --only-values -n user.ffmount.error $f 2>/dev/null | grep -o '(-o [a-z_]*=)'; done
      """,
      """
      good
      large
      most
      zeros
      4
      cat: large: Input/output error
      0
      (-o max_size=)
      3145728
      cat: zeros: Input/output error
      0
      (-o max_ratio=)

      """
    ) {
      try $0.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("good", "fine"), ZipFixtureEntry("large", [UInt8](repeating: 1, count: (3 << 20) + 1)),
          ZipFixtureEntry("most", [UInt8](repeating: 1, count: 3 << 20)),
          ZipFixtureEntry("zeros", [UInt8](repeating: 0, count: 2 << 20)).deflated(as: ZipDeflate.zeros(2 << 20))))
    },
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

  @Test func damageIsLoggedOnceWithFileAndOffset() async throws {
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

  /// Each example of the contract is the name of a test or of one of its cases.
  @Test func everyExampleOfTheContractNamesATest() async throws {
    let contract = MountScratch.package + "/Sources/Programs/ffmount/ffmount.docc/Semantics.md"
    let start = "- Example: **"
    let names = try await run("cat", contract).lines.filter { $0.hasPrefix(start) }
      .map { $0.dropFirst(start.count).dropLast(2) }
    #expect(names.count > 150)
    let tests = try await shell("cat $(find \"$1/Tests\" -name '*.swift')", MountScratch.package).text
    let missing = names.filter { !tests.contains("\"\($0)\"") && !tests.contains("func \($0)(") }
    #expect(missing == [])
  }
}
