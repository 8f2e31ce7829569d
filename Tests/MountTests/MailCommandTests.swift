import Glibc
import TestSupport
import Testing

/// `ffmount index`, `ffmount status`, `ffmount cache clear`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailCommandTests {
  private struct Setup {
    let scratch: MountScratch

    func ffmount(_ words: String...) async throws -> MountChild.Result {
      try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 20)
    }

    /// What `ffmount status` says, without the mounts of other tests.
    func status() async throws -> [String] {
      let result = try await ffmount("status")
      #expect(result.status == 0, "\(result.errors)")
      return result.lines.filter { $0.contains(scratch.path) }
    }

    var cache: String { scratch.path + "/cache" }
    var environment: [String: String] { ["XDG_CACHE_HOME": cache] }
  }

  private func withMailboxes(_ body: (Setup) async throws -> Void) async throws {
    try await withScratch { scratch in
      _ = try await shell("mkdir \"$1/d\" \"$1/d/deep\"", scratch.source)
      for (name, count) in [("a.mbox", 700), ("d/b.MBX", 20), ("d/deep/Inbox", 30), ("d/by-name.txt", 5)] {
        try await script("many_mails.py", "make", "\(count)", "300", scratch.source + "/" + name)
      }
      try scratch.write("text.txt", "no mailbox\n")
      try scratch.write("script", "no mailbox\n")
      try scratch.write("empty.mbox", "")
      try await Task.sleep(for: .milliseconds(60))
      try await body(Setup(scratch: scratch))
    }
  }

  @Test func indexCommandPrintsOneLinePerFile() async throws {
    try await withMailboxes { setup in
      let path = setup.scratch.source + "/a.mbox"
      for _ in 0..<2 {
        let result = try await setup.ffmount("index", path)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(result.lines.count == 1 && result.text.hasPrefix("\(path): 700 messages, "), "\(result.text)")
      }
      // By content, whatever the name is; and with a relative path.
      let relative = try await shell(
        "cd \"$2/d\" && XDG_CACHE_HOME=\"$3\" \"$1\" index by-name.txt ../empty.mbox", MountProcess.binary,
        setup.scratch.source, setup.cache)
      #expect(relative.lines.count == 2 && relative.text.hasPrefix("by-name.txt: 5 messages"), "\(relative.errors)")
      #expect(relative.text.contains("../empty.mbox: 0 messages"))
    }
  }

  @Test func indexCommandFindsMailboxesThatAMountLists() async throws {
    try await withMailboxes { setup in
      let result = try await setup.ffmount("index", setup.scratch.source)
      #expect(result.status == 0 && result.errors == "", "\(result.errors)")
      let found = result.lines.compactMap { $0.split(separator: ":").first.map(String.init) }.sorted()
      #expect(found == ["a.mbox", "d/b.MBX", "d/deep/Inbox", "empty.mbox"].map { setup.scratch.source + "/" + $0 })
    }
  }

  @Test func mountUsesIndexBuiltInAdvance() async throws {
    try await withMailboxes { setup in
      let indexed = try await setup.ffmount("index", setup.scratch.source)
      #expect(indexed.status == 0)
      let before = try await setup.ffmount("status")
      try await withMount(setup.scratch, environment: setup.environment) { mount in
        try await script("many_mails.py", "check", "700", "300", mount.mountpoint + "/a.mbox.messages")
        // While mounted, with the same index.
        let during = try await setup.ffmount("status")
        #expect(during.text.contains("a.mbox: 700 messages, "), "\(during.text)\(during.errors)")
      }
      #expect(before.text.contains("a.mbox: 700 messages, "))
    }
  }

  @Test func unindexableFilesAreReported() async throws {
    try await withMailboxes { setup in
      let source = setup.scratch.source
      try setup.scratch.write("bad.mbox", "no mailbox\n")
      for (name, says, status) in [
        ("text.txt", "not a mailbox", 65), ("missing", "No such file or directory", 66), ("bad.mbox", "expected", 1),
        ("script", "not a mailbox", 65),
      ] {
        let result = try await setup.ffmount("index", "\(source)/\(name)", source + "/a.mbox")
        #expect(result.status == Int32(status), "\(name)")
        #expect(result.errors.contains(name) && result.errors.contains(says), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        // One failure does not affect the others.
        #expect(result.text.contains("a.mbox: 700 messages"))
      }
      let none = try await setup.ffmount("index")
      #expect(none.status == 64)
      // An unreadable mailbox among others.
      let folder = try await setup.ffmount("index", source)
      #expect(folder.status == 1 && folder.lines.count == 4 && folder.errors.contains("bad.mbox"), "\(folder.text)")
    }
  }

  /// On a terminal: bytes, messages, rate, remaining time; redrawn, and cleared at the end.
  @Test(.enabled(if: MountScratch.has("script"), "needs script")) func progressBarIsDrawnOnATerminal() async throws {
    try await withMailboxes { setup in
      // Takes some seconds.
      #if DEBUG
        let (added, size) = ("250M", "262 MB")
      #else
        let (added, size) = ("700M", "734 MB")
      #endif
      let slow = setup.scratch.source + "/slow.mbox"
      let made = try await shell(
        "cp \"$1/a.mbox\" \"$2\"; truncate -s \"+$3\" \"$2\"", setup.scratch.source, slow, added)
      #expect(made.status == 0)
      try await Task.sleep(for: .milliseconds(60))
      let result = try await MountChild(
        ["script", "-qec", "stty cols 160; \(MountProcess.binary) index \(slow)", "/dev/null"],
        environment: setup.environment
      ).wait(atMost: 120)
      #expect(result.status == 0, "\(result.text)")
      let drawn = result.text.split(separator: "\r\u{1b}[K")
      #expect(drawn.count >= 2, "\(result.text)")
      let bar = try #require(drawn.first)
      for word in ["[", "] ", " %", " of \(size)", " messages", "B/s", " left", "slow.mbox"] {
        #expect(bar.contains(word), "\(bar)")
      }
      // The remaining time is that for the rest at the displayed rate, to the second.
      for bar in drawn.dropLast() {
        let words = bar.split(separator: " ").map(String.init)
        let of = try #require(words.firstIndex(of: "of"), "\(bar)")
        let rate = try #require(words.firstIndex { $0.hasSuffix("B/s") }, "\(bar)")
        func amount(_ index: Int) throws -> Double {
          let units = ["k": 1e3, "M": 1e6, "G": 1e9]
          return try #require(Double(words[index]), "\(bar)") * (units[String(words[index + 1].prefix(1))] ?? 1)
        }
        let rest = try amount(of + 1) - amount(of - 2)
        let wanted = rest / (try amount(rate - 1))
        let time = words[rate + 1].split(separator: ":").compactMap { Double($0) }
        try #require(time.count == 3, "\(bar)")
        let told = time[0] * 3600 + time[1] * 60 + time[2]
        // The displayed figures are rounded, the time is truncated.
        #expect(told <= wanted * 1.05 + 0.1 && told >= wanted * 0.95 - 1.1, "\(bar)")
      }
      // It advances even if no message is found for long.
      let shares = drawn.dropLast().compactMap {
        $0.split(separator: "]").dropFirst().first?.split(separator: " ").first
      }
      #expect(shares.compactMap { Int($0) } == shares.compactMap { Int($0) }.sorted() && shares.last != "0")
      #expect(drawn.last?.contains("slow.mbox: 700 messages, \(size) in ") ?? false, "\(result.text)")
    }
  }

  /// A bar that is wider than the terminal would leave a line behind each time.
  @Test(.enabled(if: MountScratch.has("script"), "needs script"), arguments: [80, 40, 20])
  func progressBarFitsTheTerminal(_ columns: Int) async throws {
    try await withMailboxes { setup in
      let slow = setup.scratch.source + "/a name that is long, 邮箱.mbox"
      let made = try await shell(
        "cp \"$1/a.mbox\" \"$2\"; truncate -s +1500M \"$2\"", setup.scratch.source, slow)
      #expect(made.status == 0)
      try await Task.sleep(for: .milliseconds(60))
      let line = "stty cols \(columns); \(MountProcess.binary) index '\(slow)'"
      let result = try await MountChild(["script", "-qec", line, "/dev/null"], environment: setup.environment)
        .wait(atMost: 60)
      let bars = result.text.split(separator: "\r\u{1b}[K").dropLast()
      #expect(!bars.isEmpty && bars.allSatisfy { $0.hasPrefix("[") }, "\(result.text)")
      for bar in bars {
        // Those two take two columns each.
        let width = bar.count + bar.count(where: { "邮箱".contains($0) })
        #expect(width < columns, "\(bar)")
        #expect(columns < 80 || bar.hasSuffix("邮箱.mbox") && bar.contains("%") && bar.contains(" left"), "\(bar)")
      }
    }
  }

  /// The bar of a search is on standard error, and not shown if a program reads the output.
  @Test(.enabled(if: MountScratch.has("script"), "needs script")) func searchProgressBarIsNotInPipedOutput()
    async throws
  {
    try await withMailboxes { setup in
      let added = "700M"
      let slow = setup.scratch.source + "/slow.mbox"
      _ = try await shell(
        "cp \"$1/a.mbox\" \"$2\"; truncate -s \"+$3\" \"$2\"", setup.scratch.source, slow, added)
      try await Task.sleep(for: .milliseconds(60))
      let search = "\(MountProcess.binary) search \(slow) from:absent"
      for (number, (line, isDrawn)) in [(search, true), (search + " --json", false), (search + " | cat", false)]
        .enumerated()
      {
        let found = try await MountChild(
          ["script", "-qec", line, "/dev/null"], environment: ["XDG_CACHE_HOME": "\(setup.cache)\(number)"]
        ).wait(atMost: 60)
        #expect(found.text.contains(" left  ") == isDrawn, "\(line): \(found.text)")
      }
    }
  }

  /// The conversions that a mount would list are made ahead; then the mount knows their sizes.
  @Test func conversionsAreMadeInAdvance() async throws {
    try await withScratch { scratch in
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      _ = try await shell("mkdir \"$1/d\"", scratch.source)
      // One grey pixel, uncompressed: width, height, depth, kind, offset and size of its byte.
      let made = try await MountChild(
        [
          MountScratch.python, "-c",
          """
          import struct, sys
          tags = [(256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 98), (277, 1), (278, 1), (279, 1)]
          data = struct.pack("<2sHIH", b"II", 42, 8, len(tags))
          data += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
          open(sys.argv[1], "wb").write(data.ljust(98, b"\\0") + b"\\x7f" + b"\\0" * 40)
          """, scratch.source + "/d/good.tiff",
        ]
      ).wait(atMost: 20)
      #expect(made.status == 0, "\(made.errors)")
      try scratch.write("bad.tiff", "no image")
      let converted = try await MountChild(
        [MountProcess.binary, "index", "--conversions", scratch.source], environment: environment
      ).wait(atMost: 60)
      #expect(
        converted.status == 1 && converted.text.contains(": 1 file converted in ")
          && converted.errors.contains("bad.tiff.as-jpeg"), "\(converted.text)\(converted.errors)")
      try await withConverter(scratch) { mount in
        let said = try await mount.shell(
          "set -- d/*.as-jpeg; getfattr --only-values -n user.ffmount.state $1; stat -c ' %s' $1; wc -c < $1", scratch)
        let parts = said.split { $0 == " " || $0 == "\n" }
        #expect(parts.count == 3 && parts[0] == "exact" && parts[1] == parts[2], "\(said)")
      }
      let help = try await run(MountProcess.binary, "help", "index")
      #expect(help.text.contains("[--conversions] [--jobs N] [-o OPTIONS] PATH"), "\(help.text)")
    }
  }

  @Test func statusListsCachedData() async throws {
    try await withMailboxes { setup in
      let nothing = try await setup.status()
      #expect(nothing.count == 1, "\(nothing)")
      _ = try await setup.ffmount("index", setup.scratch.source)
      let full = try await setup.status()
      try #require(full.count == 5 && full[0].hasPrefix(setup.cache + "/ffmount: "), "\(full)")
      #expect(full[1].contains("/a.mbox: 700 messages, ") && full[1].contains("B kept, used "), "\(full)")
      try await script("many_mails.py", "make", "1", "300", setup.scratch.source + "/a.mbox", "700")
      _ = try await run("rm", setup.scratch.source + "/d/b.MBX")
      let changed = try await setup.ffmount("status")
      #expect(changed.text.contains("700 messages (changed since), "), "\(changed.text)")
      #expect(changed.text.contains("20 messages (not there any more), "), "\(changed.text)")
      let nowhere = try await run(
        MountProcess.binary, "status", environment: ["XDG_CACHE_HOME": "relative", "HOME": "relative"])
      #expect(nowhere.status == 0 && nowhere.text.contains("XDG_CACHE_HOME"))
    }
  }

  @Test func cacheClearRemovesOneOrAllSources() async throws {
    try await withMailboxes { setup in
      let path = setup.scratch.source + "/a.mbox"
      _ = try await setup.ffmount("index", setup.scratch.source)
      let one = try await setup.ffmount("cache", "clear", path)
      #expect(one.text == "Forgot \(path).\n" && one.status == 0)
      let again = try await setup.ffmount("cache", "clear", path)
      #expect(again.text == "Nothing was kept for \(path).\n" && again.status == 0)
      let left = try await setup.status()
      #expect(left.count == 4 && !left.contains { $0.contains("a.mbox") }, "\(left)")
      let missing = try await setup.ffmount("cache", "clear", path + "x")
      #expect(missing.status == 66 && missing.errors.contains("a.mboxx"), "\(missing.errors)")
      let folder = setup.scratch.source
      let several = try await setup.ffmount("cache", "clear", path + "x", path, path + "y")
      #expect(several.status == 66 && several.errors.contains("a.mboxx") && several.errors.contains("a.mboxy"))
      #expect(several.text == "Nothing was kept for \(path).\n")
      for text in ["Nothing was kept for \(folder).\n", "Forgot \(folder).\n"] {
        let cleared = try await setup.ffmount("cache", "clear", folder)
        #expect(cleared.text == text && cleared.status == 0, "\(cleared.errors)")
        _ = try await setup.ffmount("search", folder, "nothing")
      }
      let kept = try await setup.ffmount("status")
      #expect(kept.text.contains("\n  1 search index of folders: "), "\(kept.text)")
      let all = try await setup.ffmount("cache", "clear")
      #expect(all.text.hasPrefix("Forgot ") && all.text.hasSuffix(" files, and 1 search index.\n"), "\(all.text)")
      let empty = try await setup.status()
      #expect(empty.count == 1, "\(empty)")
      // While a mount uses it.
      try await withMount(setup.scratch, environment: setup.environment) { mount in
        let shown = mount.mountpoint + "/a.mbox.messages"
        try await script("many_mails.py", "check", "700", "300", shown)
        let cleared = try await setup.ffmount("cache", "clear")
        #expect(cleared.status == 0)
        try await script("many_mails.py", "check", "700", "300", shown)
      }
    }
  }
}
