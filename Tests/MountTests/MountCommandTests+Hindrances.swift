import Glibc
import TestSupport
import Testing

/// The commands where something is in their way.
extension MountCommandTests {
  /// A mount whose daemon is stopped. Whoever looks into it waits until it goes on.
  @Test func commandsDoNotWaitForAnUnresponsiveMount() async throws {
    try await withScratch { scratch in
      try scratch.write("folder/a.zip", ZipFixture(ZipFixtureEntry("in", "x")))
      let mnt = scratch.mountpoint
      // Ways into it: as it is, by a link to it, by one to its inside, back out of it and in again.
      let made = try await shell(
        "cd \"$1\"; mkdir other; ln -s mnt link; ln -s \"$1/link/folder\" deep; touch \"out put\"", scratch.path)
      #expect(made.status == 0)
      try scratch.write("folder/in.mbox", "From a@b Fri May  3 09:30:00 2024\nSubject: x\n\nwords\n")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      try await withMount(scratch) { mount in
        let index = [MountProcess.binary, "index", mnt + "/folder/in.mbox"]
        #expect(try await MountChild(index, environment: environment).wait(atMost: 20).status == 0)
        defer { mount.daemon.send(SIGCONT) }
        mount.daemon.suspend()
        let (top, other) = (scratch.path, scratch.path + "/other")
        let commands = [
          (["why", mnt], 66), (["why", mnt + "/folder/a.zip"], 66), (["why", top + "/link/folder"], 66),
          (["why", top + "/deep/a.zip.contents"], 66), (["why", top + "/other/../mnt/folder/../x"], 66),
          (["thumbnail", mnt + "/folder/a.png", top + "/made"], 66),
          (["thumbnail", top + "/out put", mnt + "/made"], 66),
          (["open", mnt + "/folder/a.zip"], 66), (["search", top + "/deep/mail", "x"], 66),
          (["index", top + "/link"], 66),
          (["cache", "clear", mnt + "/folder/a.zip"], 66), (["-f", mnt + "/folder", other], 66),
          ([scratch.source, mnt], 73),
          ([scratch.source, top + "/deep/m"], 73), (["unmount", mnt + "/folder"], 73),
          (["unmount", top + "/deep"], 73),
        ]
        // Each takes two seconds.
        let started = try commands.map { try MountChild([MountProcess.binary] + $0.0) }
        let status = try MountChild([MountProcess.binary, "status"], environment: environment)
        for (command, child) in zip(commands, started) {
          let said = try await child.wait(atMost: 20)
          #expect(said.status == Int32(command.1) && said.text == "", "\(command.0): \(said)")
          #expect(said.errors.contains("\(mnt) does not answer") || command.0[0] == "unmount", "\(said.errors)")
          #expect(said.errors.contains("ffmount -u") && said.errors.contains(mnt), "\(said.errors)")
        }
        let kept = try await status.wait(atMost: 20)
        #expect(kept.text.contains("in.mbox: 1 message (in a mount that does not answer)"), "\(kept)")
        // The mountpoint itself is not asked. What asked the others may take a moment to end.
        var unmounted = try await run(MountProcess.binary, "-u", top + "/link/.")
        for _ in 0..<50 where unmounted.errors.contains("in use by a program") {
          try await Task.sleep(for: .milliseconds(100))
          unmounted = try await run(MountProcess.binary, "-u", top + "/link/.")
        }
        #expect(unmounted.status == 0 && unmounted.errors == "", "\(unmounted.errors)")
      }
    }
  }

  @Test func unmountingFromInsideSaysHow() async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        let said = try await mount.shell("'\(MountProcess.binary)' -u .; echo $?", scratch)
        let advice = "cd /; ffmount -u \(mount.mountpoint)"
        #expect(
          said == "ffmount: cannot unmount .: in use as working folder of this command (type: \(advice))\n73\n")
      }
    }
  }

  /// Sources can be on other file systems that hang: of another program (fuse), or the one that reads a source on another
  /// machine (fuse.ffremote).
  @Test(arguments: ["", ",subtype=ffremote"])
  func commandsDoNotWaitForAnUnresponsiveSource(_ option: String) async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in", "x")))
      let (mnt, other) = (scratch.mountpoint, scratch.path + "/other")
      #expect(try await run("mkdir", other).status == 0)
      let source = try MountChild(["bindfs", "-f", "-o", "ro\(option)", scratch.source, mnt])
      for _ in 0..<500 where !MountProcess.isMounted(mnt) { try await Task.sleep(for: .milliseconds(10)) }
      _ = kill(source.pid, SIGSTOP)
      defer { _ = kill(source.pid, SIGCONT) }
      let commands = [
        (["why", mnt + "/a.zip"], 66), (["unlock", mnt + "/a.zip"], 66), (["open", "--print", mnt + "/a.zip"], 66),
        (["save", "as-txt", mnt + "/a.zip"], 66), (["save", "as-txt", "--to", mnt, scratch.source + "/a.zip"], 66),
        (["verify", mnt], 66), (["index", mnt], 66), (["search", mnt, "x"], 66), (["serve", mnt], 66),
        ([mnt, other], 66), ([scratch.source, mnt], 73), ([scratch.source, mnt + "/in"], 73),
      ]
      let started = try commands.map { try MountChild([MountProcess.binary] + $0.0) }
      let advice = "(to unmount it, type: \(option.isEmpty ? "fusermount3" : "ffmount") -u -z \(mnt))"
      for (command, child) in zip(commands, started) {
        let said = try await child.wait(atMost: 20)
        #expect(said.status == Int32(command.1) && said.text == "", "\(command.0): \(said)")
        #expect(
          said.errors.contains("the mount on \(mnt) does not answer") && said.errors.contains(advice), "\(said.errors)")
      }
      let list = try await MountChild([MountProcess.binary, "list"]).wait(atMost: 20)
      let silent = "silent: it does not answer; its source may hang (type: ffmount -u -z \(mnt))"
      let named = "\(mnt)\n  of \(scratch.source)\n  \(silent)\n"
      #expect(list.status == 0 && list.text.contains(named) == !option.isEmpty, "\(list.text)")
      let unmounted = try await run(MountProcess.binary, "-u", "-z", mnt)
      #expect(unmounted.status == (option.isEmpty ? 73 : 0), "\(unmounted.errors)")
      #expect(option.isEmpty == unmounted.errors.contains("(type: fusermount3 -u \(mnt))"), "\(unmounted.errors)")
      _ = try await run("fusermount3", "-u", "-z", mnt)
      source.killNow()
    }
  }

  /// What is suggested is typed into a shell, whatever the names are.
  @Test(arguments: ["two words", "it's $HOME `id` \"x\"", "a\nb\t\u{1b}[1m\\", "*;&", "日本 ü"])
  func suggestedCommandsHaveTheDescribedEffect(_ name: String) async throws {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      let mnt = "\(scratch.path)/\(name)"
      /// Types what a message suggests, from `start` to its last parenthesis.
      func type(_ start: String, of said: MountChild.Result) async throws -> MountChild.Result {
        #expect(said.errors.split(separator: "\n").count == 1, "\(said.errors)")
        let from = try #require(said.errors.firstRange(of: start)?.lowerBound, "\(said.errors)")
        let command = said.errors[from...].prefix { $0 != "\n" }.dropLast()
        return try await shell(
          "ffmount() { \"$B\" \"$@\"; }; B=$1; cd \"$2\"; eval \"$3\"", MountProcess.binary, scratch.path,
          String(command))
      }
      let missing = try await run(MountProcess.binary, scratch.source, mnt)
      #expect(try await type("mkdir -p ", of: missing).status == 0)
      #expect(MountScratch.exists(mnt))
      #expect(try await run(MountProcess.binary, scratch.source, mnt).status == 0)
      let user = try MountChild(["/bin/bash", "-c", "cd \"$1\" && exec sleep 60", "bash", mnt])
      for _ in 0..<500 {
        if try await shell("readlink /proc/$1/cwd", "\(user.pid)").text.hasPrefix(scratch.path + "/") { break }
      }
      let inUse = try await run(MountProcess.binary, scratch.source, mnt)
      let busy = try await type("ffmount -u ", of: inUse)
      #expect(busy.status == 73, "\(busy.errors)")
      let lazily = try await type("ffmount -u -z ", of: busy)
      #expect(lazily.status == 0, "\(busy.errors)\(lazily.errors)")
      user.killNow()
      await offThread { MountProcess.unmount(mnt) }

      let open = try await shell("cd \"$1\"; echo secret > \"$2\"; chmod 644 \"$2\"", scratch.path, name + ".txt")
      #expect(open.status == 0)
      let words = [MountProcess.binary, "-o", "password_file=\(mnt).txt", scratch.source, scratch.mountpoint]
      // A backslash is one of the option's own.
      let readable = try await MountChild(words.map { $0.hasPrefix("pass") ? $0.replacing("\\", with: "\\\\") : $0 })
        .wait(atMost: 20)
      #expect(try await type("chmod 600 ", of: readable).status == 0, "\(readable.errors)")
      #expect(try await run("stat", "-c", "%a", mnt + ".txt").text == "600\n")
      let misused = try await run(MountProcess.binary, "--umount", mnt)
      #expect(try await type("ffmount unmount ", of: misused).errors.contains("not a mountpoint"))
    }
  }

  @Test func outputErrorsCauseFailureStatus() async throws {
    try await withScratch { scratch in
      try scratch.write("inbox.mbox", "From a@b Fri May  3 09:30:00 2024\nSubject: invoice\n\nwords\n")
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in", "x")))
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "XDG_RUNTIME_DIR": scratch.path]
      let archive = scratch.source + "/inbox.mbox"
      let lines = [
        "-V", "--version", "--help", "-h", "help", "help list", "list --help", "--complete un", "formats",
        "formats --json",
        "formats --mime", "formats --thumbnailer", "list", "list --json", "status", "status --json", "doctor",
        "doctor --json", "index \(archive)", "search \(archive) invoice", "search \(archive) invoice --json",
        "cache clear", "why \(scratch.source) --json", "open --print \(scratch.source)/a.zip",
      ]
      let shell = ["/bin/bash", "-c", "exec \"$0\" $1 >/dev/full", MountProcess.binary]
      for line in lines {
        let said = try await MountChild(shell + [line], environment: environment).wait(atMost: 20)
        #expect(
          said.status == (line.hasPrefix("why") ? 66 : line.hasPrefix("search") ? 2 : 1),
          "\(line): \(said.status) \(said.errors)")
        #expect(said.errors.contains("No space left") || line.hasPrefix("why"), "\(line): \(said.errors)")
      }
      await offThread { MountProcess.unmount(scratch.path + "/ffmount/a.zip") }
    }
  }

  /// Other users could show their own files in the place of the mount.
  @Test func openCommandUsesOnlyAFolderOfItsUser() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "XDG_RUNTIME_DIR": scratch.path + "/run"]
      let places =
        ["ln -s ../other ffmount", "touch ffmount"]
        + ["770", "702", "1777"].map { "mkdir ffmount; chmod \($0) ffmount" }
        + (MountScratch.isRoot ? ["mkdir -m 700 ffmount; chown 12345 ffmount"] : [])
      for lines in places {
        _ = try await shell("cd \"$1\"; rm -rf run other; mkdir -m 700 run other; cd run; \(lines)", scratch.path)
        let said = try await MountChild(
          [MountProcess.binary, "open", "--print", scratch.source + "/a.zip"], environment: environment
        ).wait(atMost: 20)
        #expect(said.status == 73 && said.text == "", "\(lines): \(said.text)")
        #expect(said.errors.hasPrefix("ffmount: cannot use \(scratch.path)/run/ffmount: "), "\(lines): \(said.errors)")
        #expect(!MountProcess.isMounted(scratch.path + "/run/ffmount/a.zip"), "\(lines)")
      }
    }
  }

  /// What cannot be forgotten is not said to be forgotten; the reason is what is there.
  @Test func failedCacheClearIsReported() async throws {
    try await withScratch { scratch in
      try scratch.write("a.mbox", "From a@b Fri May  3 09:30:00 2024\nSubject: x\n\nwords\n")
      let (archive, folder) = (scratch.source + "/a.mbox", scratch.path + "/cache/ffmount")
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"])
          .wait(atMost: 30)
      }
      #expect(try await ffmount("index", archive).status == 0)
      let holder = try await MountChild.holding(index: folder + "/index.sqlite")
      // Each waits for it.
      let locked = try (0..<2).map { number in
        try MountChild(
          [MountProcess.binary, "cache", "clear"] + (number == 0 ? [] : [archive]),
          environment: ["XDG_CACHE_HOME": scratch.path + "/cache"])
      }
      for child in locked {
        let said = try await child.wait(atMost: 30)
        #expect(said.status == 1 && said.text == "" && said.errors.contains("another program holds it"), "\(said)")
      }
      holder.killNow()
      #expect(try await ffmount("status").text.contains("a.mbox: 1 message"))

      // A folder that is no file, with something in it: nothing can replace it.
      _ = try await shell("cd \"$1\"; rm -f index.sqlite*; mkdir -p index.sqlite/full", folder)
      let name = folder + "/index.sqlite"
      for words in [["cache", "clear"], ["cache", "clear", archive], ["index", archive]] {
        let said = try await MountChild(
          [MountProcess.binary] + words, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]
        ).wait(atMost: 30)
        #expect(said.status == 1 && said.errors.contains("\(name) is a folder (rm -r \(name))"), "\(words): \(said)")
      }
      let doctor = try await ffmount("doctor")
      #expect(doctor.status == 1 && doctor.text.contains("fix it with: rm -r \(name)\n"), "\(doctor.text)")
    }
  }
}
