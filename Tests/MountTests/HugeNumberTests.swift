import Glibc
import TestSupport
import Testing

/// Archives, files and index rows with extreme numbers, through a real mount: on any request, the daemon survives, and
/// other files stay readable.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HugeNumberTests {
  private static let sizes: [UInt64] = [
    1 << 61 - 1, 1 << 61, 1 << 62 - 1024, 1 << 62, 1 << 63 - 512, 1 << 63 - 1, 1 << 63, .max - 511, .max,
  ]
  private static let names = [
    "x.png", "d/x.png", "x.csv", "x.json", "x.ndjson", "x.pdf", "x.zip", "x.mbox", "x.eml", "x", "x.bmp", "x.webp",
    "x.heic", "x.docx", "x.svg", "x.tsv",
  ]

  private func walk(_ source: String, at mountpoint: String, _ scratch: MountScratch) async throws {
    try await withMount(source, at: mountpoint, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]) { mount in
      _ = try await shell("echo innocent >\"$1/innocent.txt\"", source)
      let walked = try await shell(
        """
        cd "$1" && find . -ls >/dev/null; find . -type f -size -2048 -exec cat {} + >/dev/null
        getfattr -R -P -d . >/dev/null; "$2" "$3/ask_all.py" . 100
        """, mount.mountpoint, MountScratch.python, MountScratch.package + "/Tests/Scripts", limit: 170)
      #expect(walked.text.contains("\"names\""), "\(walked.errors.suffix(500))")
      #expect(!(walked.text + walked.errors).contains("Transport endpoint"), "\(walked.text.suffix(500))")
      #expect(mount.daemon.status == nil)
      let answer = try await shell("cat \"$1/innocent.txt\"", mount.mountpoint)
      #expect(answer.text == "innocent\n")
    }
  }

  @Test func absurdArchiveClaimsAffectNoOtherFiles() async throws {
    try await withScratch { scratch in
      for (number, size) in Self.sizes.enumerated() {
        var fixture = ZipFixture()
        for (place, name) in Self.names.enumerated() {
          let entry = ZipFixtureEntry(name, "a,b\n").with {
            $0.claimedSize = size
            $0.claimedCompressedSize = place % 2 == 0 ? size : nil
            $0.method = place % 3 == 0 ? 8 : 0
          }
          fixture.entries.append(entry)
        }
        try scratch.write("a\(number).zip", fixture)
        // And each alone, so that no other entry is adjacent.
        let name = Self.names[number % Self.names.count]
        try scratch.write(
          "b\(number).zip", ZipFixture(ZipFixtureEntry(name, "").with { $0.claimedSize = size }))
      }
      try await walk(scratch.source, at: scratch.mountpoint, scratch)
    }
  }

  @Test(.enabled("needs a tmpfs, /dev/shm") { MountScratch.isWritable("/dev/shm") })
  func maximumSizeFileIsMirroredAndItsViewsReportReason() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        folder=$(mktemp -d /dev/shm/huge.XXXXXX) && echo $folder
        for e in png csv json zip mbox eml pdf bin; do truncate -s 9223372036854775807 $folder/x.$e; done
        truncate -s 72057594037927937 $folder/y.zip
        """)
      let source = try #require(made.lines.first)
      do {
        try await walk(source, at: scratch.mountpoint, scratch)
        try await withMount(source, at: scratch.mountpoint) { mount in
          let said = try await shell(
            """
            cd "$1"; stat -c %s x.zip y.zip; tail -c 3 x.bin | wc -c
            for f in x.zip y.zip; do getfattr --only-values -n user.ffmount.error $f.contents; echo; done
            """, mount.mountpoint)
          #expect(
            said.lines == [
              "9223372036854775807", "72057594037927937", "3",
              "x.zip: it has 9223372036854775807 bytes, and views are made of files of up to 72057594037927936",
              "y.zip: it has 72057594037927937 bytes, and views are made of files of up to 72057594037927936",
            ], "\(said.text) \(said.errors)")
        }
      } catch {
        _ = try? await shell("rm -r \"$1\"", source)
        throw error
      }
      _ = try await shell("rm -r \"$1\"", source)
    }
  }

  /// A short run of `scripts/check batter`; others may wait longer here, because tests run in parallel.
  @Test func mountSurvivesAbuse() async throws {
    let result = try await MountChild([
      MountScratch.python, MountScratch.package + "/scripts/checks/batter", TestExtent.isFull ? "2000" : "40",
      "--binary",
      MountProcess.binary, "--limit", "30", "--wait", "60", "--convert", "0.02", "--made",
    ]).wait(atMost: TestExtent.isFull ? 1500 : 200)
    #expect(result.status == 0 && result.text.contains("0 failures"), "\(result.text) \(result.errors)")
  }

  /// The index belongs to the user, but not every program that runs as the user is trusted.
  @Test func maliciousIndexRowsDoNotCrashMountOrStatus() async throws {
    try await withScratch { scratch in
      try scratch.write("m.mbox", "From a@x Fri May  3 10:00:00 2024\nSubject: s\n\nbody\n")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 20)
      }
      try await Task.sleep(for: .milliseconds(60))
      #expect(try await ffmount("index", scratch.source + "/m.mbox").status == 0)
      for time in ["-9223372036854775808", "9223372036854775807"] {
        let poisoned = try await shell(
          "sqlite3 \"$1/cache/ffmount/index.sqlite\" \"UPDATE source SET usedAt = $2\"", scratch.path, time)
        try #require(poisoned.status == 0, "\(poisoned.errors)")
        let status = try await ffmount("status")
        #expect(status.status == 0 && status.text.contains("1 message"), "\(status.text) \(status.errors)")
        try await withMount(scratch, environment: environment) { mount in
          let listed = try await shell("ls \"$1/m.mbox.messages\" | wc -l", mount.mountpoint)
          #expect(listed.text == "1\n")
        }
      }
    }
  }
}
