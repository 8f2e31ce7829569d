import TestSupport
import Testing

/// The tree of a mounted archive equals what other programs extract from it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ZipTreeTests {
  static let packers = [
    "zip", "zip-stored", "zip-stream", "zip-no-folders", "python-stored", "python-deflated", "python-zip64-stream",
    "7z",
    "bsdtar", "jar", "git",
  ]

  @Test(arguments: packers) func treeMatchesOtherZipReaders(_ packer: String) async throws {
    try await withScratch { scratch in
      guard try await script("make_zips.py", packer, scratch.source).text != "\n" else {
        try Test.cancel("\(skipped("needs \(packer)"))")
      }
      let archive = "\(scratch.source)/\(packer).zip"
      try await withMount(scratch) { mount in
        let contents = "\(mount.mountpoint)/\(packer).zip.contents"
        try await script("compare_zip.py", "python", archive, contents)
        // unzip decodes jar's names as code page 437.
        if packer != "jar" {
          let unzip = try await shell(
            "umask 0; mkdir \"$2\"; LC_ALL=C.UTF-8 unzip -q \"$1\" -d \"$2\"", archive, scratch.path + "/unzip")
          #expect(unzip.status == 0, "\(unzip.errors)")
          try await script("compare_zip.py", "extracted", scratch.path + "/unzip", contents, archive)
        }
        let bsdtar = try await shell(
          "umask 0; mkdir \"$2\"; LC_ALL=C.UTF-8 bsdtar -xpf \"$1\" -C \"$2\"", archive, scratch.path + "/bsdtar")
        #expect(bsdtar.status == 0, "\(bsdtar.errors)")
        try await script("compare_zip.py", "extracted", scratch.path + "/bsdtar", contents, archive)
        // The mirrored archive is unchanged.
        #expect(try await run("cmp", archive, "\(mount.mountpoint)/\(packer).zip").status == 0)
      }
    }
  }

  /// DOS times are local: converted in the daemon's time zone, with daylight saving time.
  @Test(arguments: ["UTC", "Europe/Berlin", "America/St_Johns"]) func dosTimesUseTheLocalTimeZone(_ zone: String)
    async throws
  {
    try await withScratch { scratch in
      try await script("make_zips.py", "python-stored", scratch.source)
      try await withMount(scratch, environment: ["TZ": zone]) { mount in
        let compared = try await run(
          MountScratch.python, MountScratch.package + "/Tests/Scripts/compare_zip.py", "python",
          scratch.source + "/python-stored.zip", mount.mountpoint + "/python-stored.zip.contents",
          environment: ["TZ": zone])
        #expect(compared.status == 0, "\(compared.text)")
      }
    }
  }

  @Test func macOSArchiveIsShown() async throws {
    let mode: UInt32 = 0o100644
    let archive = ZipFixture(
      ZipFixtureEntry("Ordner/").unix(mode: 0o040755),
      // Archive Utility writes decomposed UTF-8 without the flag.
      ZipFixtureEntry("Ordner/Gru\u{308}\u{df}e.txt", "hello").deflated().unix(mode: mode).with {
        $0.hasDataDescriptor = true
      },
      ZipFixtureEntry("__MACOSX/").unix(mode: 0o040775),
      ZipFixtureEntry("__MACOSX/Ordner/._Gru\u{308}\u{df}e.txt", [0, 5, 22, 7]).deflated().unix(mode: mode),
      ZipFixtureEntry("Ordner/.DS_Store", [0, 0, 0, 1]).deflated().unix(mode: mode),
      ZipFixtureEntry("Ordner/Icon\r", "").unix(mode: mode), .link("Ordner/alias", to: "Gru\u{308}\u{df}e.txt"))
    try await expect(
      archive,
      """
      d Ordner
      d __MACOSX
      d __MACOSX/Ordner
      f Ordner/.DS_Store
      f Ordner/Gru\u{308}\u{df}e.txt
      f Ordner/Icon?
      f __MACOSX/Ordner/._Gru\u{308}\u{df}e.txt
      l Ordner/alias

      """)
  }

  @Test func windowsArchiveIsShown() async throws {
    let archive = ZipFixture(
      // Code page 437: Grüße.txt.
      ZipFixtureEntry([0x47, 0x72, 0x81, 0xe1, 0x65, 0x2e, 0x74, 0x78, 0x74], Array("hello".utf8)).deflated(),
      ZipFixtureEntry("old\\style\\name.txt", "x"), ZipFixtureEntry("C:\\Temp\\x.txt", "x"),
      ZipFixtureEntry("Folder/CON", "x").with {
        $0.host = .ntfs
        $0.externalAttributes = 0x21
      }, ZipFixtureEntry("Empty Folder/").with { $0.externalAttributes = 0x10 })
    try await expect(
      archive,
      """
      d Empty Folder
      d Folder
      f C:\\Temp\\x.txt
      f Folder/CON
      f Gr\u{fc}\u{df}e.txt
      f old\\style\\name.txt

      """)
  }

  private func expect(_ archive: ZipFixture, _ lines: String) async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", archive)
      try await withMount(scratch) { mount in
        let found = try await shell(
          "cd \"$1/a.zip.contents\" && find . -mindepth 1 -printf '%y %P\\n' | LC_ALL=C sort && find . -type f -exec cat {} + >/dev/null",
          mount.mountpoint)
        #expect(found.text == lines)
        #expect(found.status == 0, "\(found.errors)")
      }
    }
  }

  /// Every program archive on this machine, by name, within a time limit.
  @Test(arguments: TestExtent.isFull ? ["/usr", "/opt", "HOME"] : ["/usr"])
  func installedArchivesAreReadByName(_ root: String) async throws {
    let home = try await shell("cd ~ && pwd -P").lines.first ?? "/"
    let source = root == "HOME" ? home : root
    try await withScratch { scratch in
      guard try await shell("test -d \"$1\" -a -r \"$1\"", source).status == 0, source != "/",
        !scratch.path.hasPrefix(source + "/")
      else { try Test.cancel("\(skipped("\(source) cannot be mounted here"))") }
      try await withMount(source, at: scratch.mountpoint, options: ["-o", "views=none"]) { mount in
        let seconds = TestExtent.isFull ? "60" : "3"
        try await script("compare_zip.py", "machine", source, mount.mountpoint, seconds)
      }
    }
  }

  @Test func nestedArchivesAreFoundByNameAtAnyDepth() async throws {
    try await withScratch { scratch in
      var archive = ZipFixture(ZipFixtureEntry("bottom.txt", "reached"))
      for level in 0..<30 {
        let inner = ZipFixtureEntry("z.zip", archive.bytes())
        archive = ZipFixture(level.isMultiple(of: 2) ? inner.deflated() : inner, ZipFixtureEntry("level", "\(level)"))
      }
      try scratch.write("z.zip", archive)
      try await withMount(scratch) { mount in
        let path = mount.mountpoint + String(repeating: "/z.zip.contents", count: 31)
        let bottom = try await run("cat", path + "/bottom.txt")
        #expect(bottom.text == "reached", "\(bottom.errors)")
        // Listings end four archives deep.
        let found = try await run("find", mount.mountpoint, "-name", "level")
        #expect(found.lines.count == 4)
      }
    }
  }

  @Test func brokenArchiveAffectsOnlyItself() async throws {
    try await withScratch { scratch in
      let good = ZipFixture(ZipFixtureEntry("file", "good"))
      try scratch.write("good.zip", good)
      try scratch.write("noise.zip", (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
      try scratch.write("zero.zip", "")
      try scratch.write("short.zip", Array(good.bytes().dropLast(30)))
      try await withMount(scratch) { mount in
        let listed = try await run("ls", mount.mountpoint)
        #expect(
          listed.lines == ["good", "noise", "short", "zero"].flatMap { ["\($0).zip", "\($0).zip.contents"] })
        let longer = try await run("ls", "-l", mount.mountpoint)
        #expect(longer.status == 0)
        for name in ["noise", "zero"] {
          let broken = try await run("ls", "\(mount.mountpoint)/\(name).zip.contents")
          #expect(broken.status != 0)
          #expect(broken.errors.contains("Input/output error"))
          let reason = try await shell(
            "getfattr --only-values -n user.ffmount.error \"$1\"", "\(mount.mountpoint)/\(name).zip.contents")
          #expect(reason.text.contains("\(name).zip"), "\(reason.errors)")
          #expect(try await run("cmp", "\(scratch.source)/\(name).zip", "\(mount.mountpoint)/\(name).zip").status == 0)
        }
        #expect(try await run("cat", mount.mountpoint + "/good.zip.contents/file").text == "good")
        // Without its directory, the archive is recovered from the local headers, and the loss is reported.
        let short = try await shell(
          "cd \"$1\"; cat file; getfattr --only-values -n user.ffmount.error .",
          mount.mountpoint + "/short.zip.contents")
        #expect(short.text.hasPrefix("good") && short.text.contains("short.zip"), "\(short.text)\(short.errors)")
        let logged = mount.daemon.saidSoFar
        #expect(logged.contains("noise.zip") && !logged.contains("good.zip"), "\(logged)")
      }
    }
  }
}
