import Foundation
import TestSupport
import Testing

/// The commands about mounts: `list`, `status`, `why`, `unmount`, `open`, `doctor`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MountCommandTests {
  private static let worker = MountScratch.package + "/Tests/Scripts/fake_worker.py"

  private func ffmount(_ words: String..., environment: [String: String] = [:]) async throws -> MountChild.Result {
    try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 20)
  }

  /// What a command prints with `--json`.
  private func json(_ words: String..., environment: [String: String] = [:]) async throws -> Any {
    let said = try await MountChild([MountProcess.binary] + words + ["--json"], environment: environment)
      .wait(atMost: 20)
    return try JSONSerialization.jsonObject(with: Data(said.bytes))
  }

  /// The entry of an array of objects that has a value.
  private func entry(_ json: Any, _ key: String, _ value: String) -> [String: Any]? {
    (json as? [[String: Any]])?.first { $0[key] as? String == value }
  }

  @Test func listAndStatusReportConversionsAndFailures() async throws {
    try await withScratch { scratch in
      try scratch.write("made.png", "echo\n")
      try scratch.write("slow.png", "hang\n")
      try scratch.write("bad\tname.png", "fail 1 is broken at its heart\n")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      let options = ["-o", "converter=\(Self.worker),workers=1"]
      try await withMount(scratch, options: options, environment: environment) { mount in
        let read = """
          cat made.png.as-jpeg > /dev/null; cat $'bad\\tname.png.as-jpeg'
          for n in slow.png.as-jpeg slow.png.as-webp; do cat $n & done; sleep 60 & wait $!
          """
        // It reads until the mount is gone.
        let reader = try MountChild([
          "/bin/bash", "-c", "cd \"$1\" && { \(read); } 2>/dev/null", "bash", mount.mountpoint,
        ])
        var own: [String: Any] = [:]
        var list: Any = []
        for _ in 0..<500 {
          list = try await json("list")
          own = entry(list, "mountpoint", mount.mountpoint) ?? [:]
          // The first of the two waits, too, before it begins.
          if own["waiting"] as? Int == 1, (own["converting"] as? [Any])?.count == 1 { break }
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(
          Set(own.keys) == [
            "mountpoint", "source", "state", "user", "process", "seconds", "version", "converting", "waiting",
            "converted", "failed", "indexing", "copying",
          ])
        #expect(own["source"] as? String == scratch.source && own["state"] as? String == "running", "\(own)")
        #expect(own["process"] as? Int32 == mount.daemon.pid)
        #expect(own["converted"] as? Int == 1 && own["failed"] as? Int == 1 && own["waiting"] as? Int == 1, "\(own)")
        let converting = own["converting"] as? [[String: Any]]
        #expect(converting?.count == 1 && converting?[0]["path"] as? String == "slow.png", "\(own)")
        let shown = try await ffmount("list")
        #expect(
          shown.text.contains(mount.mountpoint + "\n  of " + scratch.source)
            && shown.text.contains("converting slow.png (")
            && shown.text.contains("1 converted, 1 failed"), "\(shown.text)")

        let status = try await ffmount("status", environment: environment)
        #expect(
          status.text.contains("\(mount.mountpoint): 1 converted since it was mounted, 1 failed"), "\(status.text)")
        // A tab of a name is not a tab of the terminal's.
        #expect(status.text.contains("  bad name.png (jpeg): is broken at its heart"), "\(status.text)")
        let document = try await json("status", environment: environment) as? [String: Any]
        let failures = entry(document?["mounts"] ?? [], "mountpoint", mount.mountpoint)?["failures"]
        #expect(entry(failures ?? [], "path", "bad\tname.png")?["reason"] as? String == "is broken at its heart")
        let keys: Set = ["folder", "size", "files", "searches", "renditions", "blocks", "mounts"]
        #expect(Set(document?.keys ?? [:].keys) == keys)

        let why = try await json("why", mount.mountpoint + "/bad\tname.png.as-jpeg") as? [String: Any]
        #expect(
          Set(why?.keys ?? [:].keys) == [
            "path", "mountpoint", "kind", "real", "view", "source", "state", "error", "remark", "lacks", "advice",
          ])
        #expect(why?["view"] as? String == "as-jpeg" && why?["state"] as? String == "failed", "\(why ?? [:])")
        #expect((why?["error"] as? String)?.hasSuffix("is broken at its heart") ?? false, "\(why ?? [:])")
        reader.killNow()
      }
      let list = try await json("list")
      #expect(entry(list, "mountpoint", scratch.mountpoint) == nil)
    }
  }

  @Test func mailboxesBeingIndexedAreListed() async throws {
    try await withScratch { scratch in
      try await script("many_mails.py", "make", "700", "300", scratch.source + "/slow.mbox")
      _ = try await shell("truncate -s +4G \"$1/slow.mbox\"", scratch.source)
      try await Task.sleep(for: .milliseconds(60))
      try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]) { mount in
        let reader = try MountChild(["ls", mount.mountpoint + "/slow.mbox.views/by-sender"])
        var indexing: [String: Any]?
        for _ in 0..<500 where indexing == nil {
          let own = entry(try await json("list"), "mountpoint", mount.mountpoint)
          indexing = (own?["indexing"] as? [[String: Any]])?.first
          try await Task.sleep(for: .milliseconds(5))
        }
        #expect(indexing?["path"] as? String == "slow.mbox" && indexing?["what"] as? String == "messages")
        #expect(indexing?["size"] as? Int64 ?? 0 > 4 << 30 && indexing?["done"] as? Int64 ?? -1 >= 0)
        reader.killNow()
      }
    }
  }

  @Test(.enabled(if: MountScratch.has("zip"), "needs zip")) func whyReportsViewStateAndRemedy() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        "cd \"$1\"; echo inside > in.txt; zip -q -P secret source/a.zip in.txt; cp a.zip source/x.txt; rm -f in.txt",
        scratch.path)
      #expect(made.errors.contains("a.zip"), "\(made.errors)")
      try scratch.write("plain.txt", "text")
      try await withMount(scratch) { mount in
        func why(_ name: String) async throws -> MountChild.Result { try await ffmount("why", mount.mountpoint + name) }
        let inner = "/a.zip.contents/in.txt"
        _ = try await run("cat", mount.mountpoint + inner)
        let locked = try await why(inner)
        #expect(locked.status == 0)
        for word in ["the view contents of a.zip", "password", "ffmount unlock", "-o password_file=FILE", "chmod 600"] {
          #expect(locked.text.contains(word), "\(locked.text)")
        }
        let real = try await why("/plain.txt")
        #expect(real.text.contains("a real file, \(scratch.source)/plain.txt"), "\(real.text)")
        #expect(try await why("").text.contains("the mount itself"))
        let view = try await why("/plain.txt.contents")
        #expect(view.status == 66 && view.errors.contains("plain.txt exists but has no such view"), "\(view.errors)")
        let nothing = try await why("/nothing")
        #expect(nothing.status == 66 && nothing.errors.contains("No such file"), "\(nothing.errors)")
        let outside = try await json("why", scratch.source + "/plain.txt") as? [String: Any]
        #expect((outside?["error"] as? String)?.contains("not in an ffmount mount") ?? false)
      }
    }
  }

  /// ffmount without the programs of its other packages.
  @Test func whyNamesTheMissingPackage() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1" && cp "$2" . && export XDG_CACHE_HOME=$PWD/cache; cd source; printf 'PK' > a.docx; printf '%%PDF-1' > b.pdf
        printf '7z\\274\\257\\047\\034' > c.7z; echo x > d.flac; echo x > e.txt; echo x > g.png; printf 'hsqs....' > f.img; cd ..
        ./ffmount -o supervise=off source mnt 2>/dev/null; w() { ./ffmount why "mnt/$1" 2>&1 | grep -e '^ffm' -e '^lacks' -e '^re' -e '^do'; }
        for n in a.docx a.docx.as-pdf b.pdf g.png.as-jpeg g.png.scan.as-jpeg b.pdf.pages b.compressed.pdf b.pdf.pagse \
          c.7z.contents d.flac d.flac.as-mp3 e.txt.as-mp3 f.img f.img.contents; do echo "# $n"; w $n; done; ./ffmount -u mnt
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary)
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      var found: [String: String] = [:]
      for part in said.text.split(separator: "# ") {
        let lines = part.split(separator: "\n", maxSplits: 1)
        found[String(lines[0])] = lines.count > 1 ? String(lines[1]) : ""
      }
      for (name, words) in [
        ("a.docx", ["lacks   views made by fflayout and ffoffice (install the", "ffmount-office"]),
        ("a.docx.as-pdf", ["a.docx has no view as-pdf because fflayout is not installed", "ffmount-office"]),
        ("b.pdf", ["lacks   views made by ffconvert, ffpages and ffscan", "ffmount-converters and ffmount-scans"]),
        ("b.pdf.pages", ["b.pdf has no view pages because ffpages is not installed", "ffmount-converters"]),
        ("b.compressed.pdf", ["b.pdf has no view compressed.pdf because ffconvert is not installed"]),
        ("g.png.as-jpeg", ["because ffconvert is not installed"]),
        ("g.png.scan.as-jpeg", ["because ffscan is not installed"]),
        ("b.pdf.pagse", ["b.pdf exists but has no such view", "(did you mean pages?)"]),
        ("c.7z.contents", ["because ffarchive is not installed", "ffmount-converters"]),
        ("d.flac", ["lacks   views made by ffmedia", "ffmount-media"]),
        ("d.flac.as-mp3", ["because ffmedia is not installed", "ffmount-media"]),
        ("e.txt.as-mp3", ["its content is of another kind"]),
        ("f.img", ["remark  a SquashFS image, whose content ffmount does not show", "do      install the package"]),
        ("f.img.contents", ["f.img is a SquashFS image, whose content ffmount does not show (install the package"]),
      ] {
        for word in words { #expect(found[name]?.contains(word) ?? false, "\(name): \(found[name] ?? said.text)") }
      }
    }
  }

  @Test func failedUnmountNamesBlockingProcesses() async throws {
    try await withScratch { scratch in
      let mount = scratch.mountpoint
      #expect(try await ffmount(scratch.source, mount).status == 0)
      let user = try MountChild(["/bin/bash", "-c", "cd \"$1\" && exec sleep 60", "bash", mount])
      var busy = try await ffmount("why", mount)
      for _ in 0..<500 {
        busy = try await shell("readlink /proc/$1/cwd", "\(user.pid)")
        if busy.lines == [mount] { break }
      }
      busy = try await ffmount("unmount", mount)
      #expect(busy.status == 73 && busy.errors.contains("sleep (process \(user.pid))"), "\(busy.errors)")
      #expect(busy.errors.contains("ffmount -u -z \(mount)"), "\(busy.errors)")
      user.killNow()
      let inside = try await ffmount("unmount", mount + "/.")
      #expect(inside.status == 0, "\(inside.errors)")
      for (path, says) in [
        (mount, "not a mountpoint"), ("/proc", "by another program, as proc"), (mount + "x", "No such file"),
      ] {
        let said = try await ffmount("-u", path)
        #expect(said.status == 73 && said.errors.contains(says), "\(said.errors)")
        #expect(said.errors.hasPrefix("ffmount: cannot unmount \(path): ") && said.text == "", "\(said.errors)")
      }
      // A mount whose daemon was killed, and a folder in a mount.
      try scratch.write("folder/file", "x")
      #expect(try await ffmount("-o", "supervise=off", scratch.source, mount).status == 0)
      let folder = try await ffmount("-u", mount + "/folder")
      #expect(folder.status == 73 && folder.errors.contains("type: ffmount -u \(mount))"), "\(folder.errors)")
      let process = entry(try await json("list"), "mountpoint", mount)?["process"] as? Int32
      _ = try await shell("kill -9 \"$1\"; while [ -e /proc/$1 ]; do sleep .01; done", "\(try #require(process))")
      #expect(entry(try await json("list"), "mountpoint", mount)?["state"] as? String == "dead")
      #expect(try await ffmount("doctor").text.contains("fix it with: ffmount -u \(mount)\n"))
      #expect(try await ffmount("-u", mount).status == 0)
      #expect(!MountProcess.isMounted(mount))
    }
  }

  @Test func openCommandMountsFileTemporarily() async throws {
    try await withScratch { scratch in
      for name in ["a.zip", "b.zip"] { try scratch.write(name, ZipFixture(ZipFixtureEntry("in.txt", "inside"))) }
      let environment = [
        "XDG_RUNTIME_DIR": scratch.path + "/run", "DISPLAY": "", "WAYLAND_DISPLAY": "",
        "XDG_CACHE_HOME": scratch.path + "/cache",
      ]
      // The folder does not exist.
      let without = try await ffmount("open", scratch.source + "/a.zip", environment: environment)
      #expect(without.status == 0 && without.text.hasPrefix("/tmp/ffmount-\(getuid())/a.zip"), "\(without.errors)")
      #expect(try await ffmount("-u", without.lines.first ?? "").status == 0)
      _ = try await shell("mkdir -m 700 \"$1/run\"", scratch.path)
      // What the file manager is given, and one that there is not.
      _ = try await shell(
        """
        cd "$1"; mkdir bin; cat > bin/xdg-open <<'END'
        #!/bin/sh
        cd "${0%/*}/.."; echo "$1" >> shown; [ ! -e fails ]
        END
        chmod +x bin/xdg-open; ln -s /bin/true bin/zenity
        """, scratch.path)
      let desktop = ["DISPLAY": ":99", "PATH": scratch.path + "/bin:/usr/bin:/bin"]
        .merging(environment) { given, _ in given }
      for fails in [false, true] {
        if fails { _ = try await shell("touch \"$1/fails\"", scratch.path) }
        let shown = try await ffmount("open", "--idle", "1", scratch.source + "/a.zip", environment: desktop)
        #expect(shown.status == (fails ? 1 : 0) && shown.text == scratch.path + "/run/ffmount/a.zip\n")
        #expect(shown.errors.contains("xdg-open found no file manager") == fails, "\(shown.errors)")
      }
      #expect(try await shell("sort -u \"$1/shown\"", scratch.path).text == scratch.path + "/run/ffmount/a.zip\n")
      // It stays while it is in use, and is the same for who opens it again.
      let folder = scratch.path + "/run/ffmount/a.zip"
      for words in [["--idle", "1"], ["--print"]] {
        let said = try await MountChild(
          [MountProcess.binary, "open", scratch.source + "/a.zip"] + words, environment: environment
        ).wait(atMost: 20)
        #expect(said.text == folder + "\n" && said.status == 0, "\(said.errors)")
      }
      #expect(try await run("cat", folder + "/in.txt").text == "inside")
      // A double click is one mount.
      let twice = try await MountChild(
        [
          "/bin/bash", "-c", "for _ in 1 2 3; do \"$1\" open --print \"$2\" & done; wait; \"$1\" -u \"$3\"", "bash",
          MountProcess.binary, scratch.source + "/b.zip", scratch.path + "/run/ffmount/b.zip",
        ], environment: environment
      ).wait(atMost: 20)
      #expect(twice.text == String(repeating: scratch.path + "/run/ffmount/b.zip\n", count: 3), "\(twice.errors)")
      let user = try MountChild(["/bin/bash", "-c", "cd \"$1\" && exec sleep 2.5", "bash", folder])
      while user.isRunning {
        #expect(!user.isRunning || MountProcess.isMounted(folder))
        try await Task.sleep(for: .milliseconds(100))
      }
      // To look at the folder would be to use it, unlike asking for its state.
      for _ in 0..<300 where MountProcess.isMounted(folder) { _ = try await ffmount("list", environment: environment) }
      for _ in 0..<500 where MountScratch.exists(folder) { try await Task.sleep(for: .milliseconds(20)) }
      #expect(!MountProcess.isMounted(folder) && !MountScratch.exists(folder))
      await offThread { MountProcess.unmount(folder) }
      let text = try await ffmount("open", MountProcess.binary, environment: environment)
      #expect(text.status == 65 && text.text == "", "\(text.errors)")
      #expect(try await run("ls", scratch.path + "/run/ffmount").text == "")
    }
  }

  @Test func doctorExitsWithOneIfACheckFails() async throws {
    let said = try await MountChild([MountProcess.binary, "doctor", "--json"]).wait(atMost: 30)
    let found = try JSONSerialization.jsonObject(with: Data(said.bytes)) as? [String: Any]
    let checks = try #require(found?["checks"] as? [[String: Any]])
    #expect(checks.allSatisfy { Set($0.keys) == ["name", "grade", "says", "mend"] })
    let names = checks.compactMap { $0["name"] as? String }
    for name in ["versions", "fuse", "fusermount3", "allow_other", "ffconvert", "ffpages", "sandbox", "cache"] {
      #expect(names.contains(name), "\(names)")
    }
    let bad = checks.filter { $0["grade"] as? String == "bad" }
    #expect(bad.allSatisfy { $0["mend"] is String }, "\(bad)")
    #expect(said.status == (bad.isEmpty ? 0 : 1) && found?["ok"] as? Bool == bad.isEmpty)
    // A cache that others can change.
    try await withScratch { scratch in
      _ = try await shell("mkdir -p -m 777 \"$1/open/ffmount\"; chmod 777 \"$1/open\"", scratch.path)
      let other = try await ffmount("doctor", environment: ["XDG_CACHE_HOME": scratch.path + "/open"])
      #expect(
        other.status == 1 && other.text.contains("fix it with: chmod go-w \(scratch.path)/open\n"), "\(other.text)")
    }
  }

  @Test func doctorExaminesAMount() async throws {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      try await withMount(scratch) { mount in
        let said = try await ffmount("doctor", mount.mountpoint)
        #expect(
          said.status == 0
            && said.text.contains("ok    mount         \(mount.mountpoint), of \(scratch.source): answers, for "),
          "\(said.text)\(said.errors)")
        #expect(said.text.contains("process \(mount.daemon.pid)\n") && said.text.contains("supervisor    none"))
        #expect(!said.text.contains("fusermount3"))
        mount.daemon.suspend()
        defer { mount.daemon.send(SIGCONT) }
        let silent = try await ffmount("doctor", mount.mountpoint)
        #expect(silent.status == 1 && silent.text.contains("fix it with: ffmount -u -z \(mount.mountpoint)\n"))
      }
      let none = try await ffmount("doctor", scratch.mountpoint)
      #expect(none.status == 66 && none.errors.contains("not an ffmount mount (run 'ffmount list')"), "\(none.errors)")
    }
  }

  /// A cache folder that this user cannot create.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func unusableCacheIsReported() async throws {
    try await withScratch { scratch in
      try scratch.write("x.mbox", "From a@b Fri May  3 10:00:00 2024\nFrom: a@b\nSubject: s\n\nt\n")
      let lines = """
        cd "$1"; chmod 755 . source; chmod 644 source/*; mkdir -m 555 home; cp "$2" ffmount; chmod 755 ffmount
        as() { env -u XDG_CACHE_HOME HOME="$1/home" setpriv --reuid=65534 --regid=65534 --clear-groups -- "${@:2}" 2>&1; }
        as "$1" ./ffmount --version || exit 90
        as "$1" ./ffmount index source/x.mbox; echo "status $?"; as "$1" ./ffmount doctor | grep -A 1 ' cache  '
        as "$1" env HOME=/nonexistent ./ffmount doctor | grep -A 1 ' cache  '
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary)
      if said.status == 90 { try Test.cancel("another user may not run what lies here: \(said.text)") }
      let reason = "cannot be created: Permission denied (set XDG_CACHE_HOME to a folder that you can write to)"
      #expect(
        said.text.contains("cannot save the index of source/x.mbox: \(scratch.path)/home/.cache/ffmount \(reason)"))
      #expect(said.text.contains("status 1") && !said.text.contains("is the disk full"), "\(said.text)")
      for folder in [scratch.path + "/home/.cache/ffmount", "/nonexistent/.cache/ffmount"] {
        #expect(
          said.text.contains("bad   cache         nothing is kept for the next mount: \(folder) \(reason)\n"),
          "\(said.text)")
      }
      // What is suggested works.
      let mend = try #require(said.lines.last { $0.contains("fix it with: ") }, "\(said.text)")
      let command = mend.replacing("      fix it with: ", with: "").replacing("/var/tmp", with: scratch.path)
      let mended = try await shell(
        """
        cd "$1"; chmod 1777 .
        setpriv --reuid=65534 --regid=65534 --clear-groups -- bash -c "$2 && ./ffmount index source/x.mbox" 2>&1
        """, scratch.path, command)
      #expect(mended.status == 0, "\(mended.text)")
    }
  }

  @Test(.enabled(if: MountScratch.exists(MountProcess.program("ffserve")), "needs ffserve"))
  func unusableAddressIsReported() async throws {
    try await withScratch { scratch in
      for (words, says) in [
        (["--host", "192.0.2.1"], "port 4200: Cannot assign requested address (this machine does not have it"),
        (["--host", "no-such-host.invalid"], "no address has this name"),
      ] {
        let said = try await MountChild([MountProcess.binary, "serve", scratch.source] + words).wait(atMost: 30)
        #expect(said.status == 1 && said.errors.contains(says), "\(said.errors)")
        #expect(said.errors.split(separator: "\n").count == 1 && !said.errors.contains("descriptor"), "\(said.errors)")
      }
    }
  }

  /// Two users: one sees of the other's mount where it is, and cannot unmount it.
  @Test(
    .enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func otherUsersCanListButNotUnmountMounts() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; chmod 755 . source; chown 65534:65534 mnt; mkdir -m 700 cache; chown 65534 cache; mkdir mine theirs
        cp "$2" ffmount; chmod 755 ffmount; export XDG_CACHE_HOME=$1/cache HOME=$1
        as() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@" 2>&1; }
        as ./ffmount --version || exit 90
        ./ffmount -o allow_other source mine 2>/dev/null || exit 91
        as ./ffmount source theirs; echo "refused $?"; mkdir -m 0 closed; chown 65534 closed
        as ./ffmount source closed; echo "closed $?"; chown 0:0 closed; mkdir -m 1777 sticky
        as ./ffmount source sticky; echo "sticky $?"
        as ./ffmount -f source mnt & pid=$!
        for n in $(seq 1500); do grep -q " $1/mnt " /proc/self/mountinfo && break; kill -0 $pid || exit 92; sleep .02; done
        echo "user:"; as ./ffmount list; as ./ffmount -u mine; echo "status $?"
        as ./ffmount upgrade mine; echo "upgraded $?"; as ./ffmount doctor mine; echo "examined $?"
        echo "root:"; ./ffmount list; ./ffmount why mnt/file 2>&1
        as ./ffmount -u mnt; echo "unmounted $?"; wait $pid; ./ffmount -u mine
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary)
      await offThread { for name in ["mine", "mnt"] { MountProcess.unmount("\(scratch.path)/\(name)") } }
      if [90, 92].contains(said.status) {
        try Test.cancel("another user may not run or mount here: \(said.text)\(said.errors)")
      }
      #expect(said.status == 0, "\(said.text)\(said.errors)")
      // The helper would refuse with another status, and without advice.
      #expect(
        said.text.contains("on theirs: Permission denied (use a folder of yours, or type: sudo chown $USER theirs)"),
        "\(said.text)")
      #expect(said.text.contains("refused 73") && !said.text.contains("fusermount3"), "\(said.text)")
      #expect(said.text.contains("(type: chmod u+rwx closed)\nclosed 73"), "\(said.text)")
      #expect(said.text.contains("on sticky: it is sticky and belongs to another user"), "\(said.text)")
      #expect(said.text.contains("cannot upgrade mine: mounted by another user"), "\(said.text)")
      #expect(said.text.contains("upgraded 73") && said.text.contains("examined 0"), "\(said.text)")
      #expect(said.text.contains("note  mount         \(scratch.path)/mine: mounted by another user"), "\(said.text)")
      let parts = said.text.split(separator: "root:\n")
      try #require(parts.count == 2, "\(said.text)")
      // The user's own mounts come first.
      let (own, other) = (parts[0].firstRange(of: "\(scratch.mountpoint)\n"), parts[0].firstRange(of: "/mine\n"))
      #expect(try #require(own).lowerBound < #require(other).lowerBound, "\(said.text)")
      #expect(parts[0].contains("\(scratch.mountpoint)\n  of \(scratch.source)\n  running for "), "\(said.text)")
      #expect(parts[0].contains("\(scratch.path)/mine\n  of \(scratch.source)\n  mounted by root"), "\(said.text)")
      #expect(parts[0].contains("cannot unmount mine: mounted by another user"), "\(said.text)")
      #expect(parts[0].contains("status 73") && parts[1].contains("unmounted 0"), "\(said.text)")
      #expect(parts[1].contains("\(scratch.mountpoint)\n  of \(scratch.source)\n  mounted by nobody"), "\(said.text)")
      #expect(parts[1].contains("mounted by user 65534, and accessible only to that user"), "\(said.text)")
    }
  }

  /// What follows a comma in the name of the source is not taken for options.
  @Test func commasInTheSourceAreNoOptions() async throws {
    try await withScratch { scratch in
      let name = "a,allow_other,fsname=b"
      try scratch.write(name + "/in.txt", "inside")
      try await withMount(scratch.source + "/" + name, at: scratch.mountpoint) { mount in
        #expect(try await run("cat", mount.mountpoint + "/in.txt").text == "inside")
        let line = try await shell("grep -F \" $1 \" /proc/mounts", mount.mountpoint).text.split(separator: " ")
        #expect(line.count == 6 && line[0].hasSuffix("/" + name) && !line[3].contains("allow_other"), "\(line)")
      }
    }
  }
}
