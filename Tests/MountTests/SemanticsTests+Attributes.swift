import TestSupport
import Testing

extension SemanticsTests {
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
      "A view's owner and permission bits are its source's, with x where a folder can be read",
      "stat -c '%n %a' *; [ $(stat -c %u:%g a.zip.contents/in.txt) = $(stat -c %u:%g $S/a.zip) ] && echo owner",
      "a.zip 640\na.zip.contents 750\nb.zip 666\nb.zip.contents 777\nowner\n"
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

  @Test func inodesAndContentAreStableAcrossMounts() async throws {
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
}
