import Foundation
import Glibc
import TestSupport
import Testing

/// The command line, with the conventions of FUSE.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CommandTests {
  // MARK: Output

  @Test(.enabled(if: MountScratch.has("mandoc"), "needs mandoc"))
  func manualIsCompleteAndMatchesTheProgram() async throws {
    let checked = try await run(MountScratch.package + "/scripts/checks/manual", "--check", MountProcess.binary)
    #expect(checked.text == "" && checked.status == 0, "\(checked.text)\(checked.errors)")
    let said = try await run(MountProcess.binary, "formats")
    for word in ["`NAME.contents/`", "`NAME.pages/`", "`NAME.as-html`", "`1600px`", "`*.heic`"] {
      #expect(said.text.contains(word))
    }
  }

  // MARK: Refusals

  @Test(arguments: refusals, [true, false])
  func refusalReportsReasonAndExitStatus(_ refusal: Refusal, inForeground: Bool) async throws {
    try await withScratch { scratch in
      try await fill(scratch)
      func real(_ word: String) -> String {
        // Also after an option's name.
        if let equals = word.firstIndex(of: "="), word[equals...].hasPrefix("=T/") {
          return String(word[...equals]) + real(String(word[word.index(after: equals)...]))
        }
        guard let first = word.split(separator: "/").first, first.count == 1 || word.contains(" ") else { return word }
        switch first {
        case "S": return scratch.source + word.dropFirst()
        case "M": return scratch.mountpoint + word.dropFirst()
        case "T": return scratch.path + word.dropFirst()
        default: return word
        }
      }
      let words = (inForeground ? ["-f"] : []) + refusal.words.map(real)
      let result = try await MountChild([MountProcess.binary] + words).wait(atMost: 10)
      #expect(!MountProcess.isMounted(scratch.mountpoint))
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      #expect(result.status == refusal.status)
      #expect(result.text == "")
      for word in refusal.says {
        let said = word.split(separator: " ").map { real(String($0)) }.joined(separator: " ")
        #expect(result.errors.contains(said), "\(result.errors)")
      }
      // One sentence.
      #expect(result.errors.hasPrefix("ffmount: "), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }
  }

  private func fill(_ scratch: MountScratch) async throws {
    try scratch.write("text.txt", "just text, and long enough to be more than a header")
    try scratch.write("broken.zip", "this is no archive, whatever its name says")
    _ = try await shell("printf 'QFI\\373rest' > \"$1\"", scratch.source + "/disk.qcow2")
    try scratch.write("good.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
    try scratch.write("folder/file", "x")
    let lines = """
      cd "$1"; mkfifo source/fifo; mkdir full; touch full/x file; ln -s source link
      chmod 600 full/x; for name in group all; do echo secret > $name; done; chmod 640 group; chmod 604 all
      """
    let made = try await shell(lines, scratch.path)
    #expect(made.status == 0)
  }

  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("unshare"), "needs root and unshare"))
  func missingFUSEDeviceIsReported() async throws {
    try await withScratch { scratch in
      // An empty /dev, for this process only.
      let lines = "mount -t tmpfs none /dev || exit 127; exec \"$@\""
      let result = try await run(
        "unshare", "-m", "--propagation", "slave", "bash", "-c", lines, "bash", MountProcess.binary, scratch.source,
        scratch.mountpoint, limit: 10)
      guard result.status != 127 else { try Test.cancel("no namespace to be had: \(result.errors)") }
      #expect(result.status == 69)
      #expect(result.errors.hasPrefix("ffmount: cannot mount: no /dev/fuse"), "\(result.errors)")
    }
  }

  @Test(.enabled(if: MountScratch.has("zip"), "needs zip")) func passwordFileUnlocksEncryptedEntries() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1"; printf 'wrong\\r\\n\\nthe secret\\n' > passwords; chmod 600 passwords; echo inside > in.txt
        zip -q -P 'the secret' source/a.zip in.txt
        """, scratch.path)
      #expect(made.status == 0, "\(made.errors)")
      for (options, text) in [([], ""), (["-o", "password_file=\(scratch.path)/passwords"], "inside\n")] {
        try await withMount(scratch, options: options) { (mount) async throws in
          #expect(try await run("cat", mount.mountpoint + "/a.zip.contents/in.txt").text == text)
        }
        let verified = try await MountChild([MountProcess.binary, "verify", scratch.source + "/a.zip"] + options).wait(
          atMost: 20)
        #expect(verified.status == (text.isEmpty ? 1 : 0), "\(verified.text)\(verified.errors)")
      }
    }
  }

  @Test func busyMountpointIsRefused() async throws {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      try await withMount(scratch) { mount in
        let second = try await run(MountProcess.binary, scratch.source, scratch.mountpoint, limit: 10)
        #expect(second.status == 73)
        #expect(
          second.errors.contains("in use") && second.errors.contains("ffmount -u \(scratch.mountpoint)"),
          "\(second.errors)")
        #expect(try await run("cat", mount.mountpoint + "/file").text == "x")
      }
      // /proc/self/mountinfo escapes such names.
      let odd = scratch.path + "/my \"mnt\"\\040\ttab"
      #expect(try await run("mkdir", odd).status == 0)
      try await withMount(scratch.source, at: odd) { _ in
        let second = try await run(MountProcess.binary, scratch.source, odd, limit: 10)
        #expect(second.status == 73 && second.errors.contains("in use"), "\(second.errors)")
      }
    }
  }

  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func unreadableSourceIsRefused() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        "cd \"$1\"; chmod 755 .; mkdir locked; chmod 700 locked; cp \"$2\" ffmount; chmod 755 ffmount", scratch.path,
        MountProcess.binary)
      #expect(made.status == 0)
      let result = try await run(
        "setpriv", "--reuid=65534", "--clear-groups", "--", scratch.path + "/ffmount", scratch.path + "/locked",
        scratch.mountpoint, limit: 10)
      // 127: this machine's libraries or folders are not accessible to everybody.
      guard result.status != 127, !result.errors.contains("setpriv") else {
        try Test.cancel("others may not run what lies here: \(result.errors)")
      }
      #expect(result.status == 66)
      #expect(result.errors.contains("Permission denied"), "\(result.errors)")
    }
  }

  @Test func nonemptyOptionAllowsNonemptyMountpoint() async throws {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      _ = try await shell("touch \"$1/below\"", scratch.mountpoint)
      try await withMount(scratch, options: ["-o", "nonempty"]) { (mount) async throws in
        #expect(try await run("ls", mount.mountpoint).text == "file\n")
      }
      #expect(try await run("ls", scratch.mountpoint).text == "below\n")
    }
  }

  // MARK: Output

  @Test(arguments: ["-V", "--version"]) func versionIsPrinted(_ flag: String) async throws {
    let result = try await run(MountProcess.binary, flag, limit: 10)
    #expect(result.status == 0)
    #expect(result.text.wholeMatch(of: /ffmount \d+\.\d+\.\d+\n/) != nil, "\(result.text)")
    #expect(result.errors == "")
  }

  @Test(arguments: ["-h", "--help"]) func helpIsPrinted(_ flag: String) async throws {
    let result = try await run(MountProcess.binary, flag, limit: 10)
    #expect(result.status == 0)
    for word in ["SOURCE", "MOUNTPOINT", "-o", "-f", "-d", "-s", "-V", "-h", "fusermount3 -u"] {
      #expect(result.text.uppercased().contains(word.uppercased()), "\(word) in \(result.text)")
    }
    #expect(result.errors == "")
  }

  // MARK: Options

  @Test func uidGidAndUmaskOptionsApply() async throws {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      try scratch.write("folder/a.zip", ZipFixture(ZipFixtureEntry("in", "x").unix(mode: 0o100755)))
      _ = try await shell("chmod 777 \"$1/folder\"; chmod 666 \"$1/file\"; ln -s file \"$1/link\"", scratch.source)
      try await withMount(scratch, options: ["-o", "uid=1234,gid=4321", "-o", "umask=027"]) { mount in
        let found = try await shell(
          "cd \"$1\"; stat -c '%n %u %g %a' . file folder link folder/a.zip.contents folder/a.zip.contents/in",
          mount.mountpoint)
        #expect(
          found.lines == [
            ". 1234 4321 750", "file 1234 4321 640", "folder 1234 4321 750", "link 1234 4321 777",
            "folder/a.zip.contents 1234 4321 750", "folder/a.zip.contents/in 1234 4321 750",
          ])
      }
      try await withMount(scratch, options: ["-o", "umask=022,dmask=077,fmask=0133"]) { mount in
        let found = try await shell("cd \"$1\"; stat -c '%n %a' . file folder/a.zip.contents/in", mount.mountpoint)
        #expect(found.lines == [". 700", "file 644", "folder/a.zip.contents/in 644"])
      }
    }
  }

  @Test(arguments: [
    ["-s"], ["-o", "max_threads=1"], ["-o", "max_threads=3"], ["-d"],
    ["-o", "ro,noauto,user,_netdev,x-systemd.automount,nofail,defaults,noatime,nosuid,nodev,comment=x"],
    ["-oro,fsname=some\\,where", "-onoexec"],
  ]) func mountOptionsAreAccepted(_ options: [String]) async throws {
    try await withScratch { scratch in
      for number in 0..<8 {
        try scratch.write("f\(number)", String(repeating: "\(number)", count: 100_000))
        try scratch.write(
          "z\(number).zip", ZipFixture(ZipFixtureEntry("in", String(repeating: "\(number)", count: 50_000)).deflated()))
      }
      try await withMount(scratch, options: options) { mount in
        let lines = "cd \"$1\"; ls; printf '%s\\n' f* | xargs -P 8 -I{} cksum {} | sort"
        let (native, mounted) = (try await shell(lines, scratch.source), try await shell(lines, mount.mountpoint))
        #expect(mounted.lines.filter { !$0.hasSuffix(".contents") } == native.lines)
        let zips = try await shell(
          "cd \"$1\"; printf '%s\\n' z*.contents/in | xargs -P 8 -I{} sh -c 'tr -d 0-7 <{} | wc -c; wc -c <{}' | sort | uniq -c",
          mount.mountpoint)
        #expect(zips.text.split(whereSeparator: \.isWhitespace) == ["8", "0", "8", "50000"])
        if options[0].contains("fsname") {
          #expect(try await run("findmnt", "-n", "-o", "SOURCE", mount.mountpoint).text == "some,where\n")
        }
        if options == ["-d"] { #expect(mount.daemon.saidSoFar.uppercased().contains("READDIR")) }
      }
    }
  }

  @Test func mountTableShowsTheSourceAsDevice() async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        let found = try await run("findmnt", "-n", "-r", "-o", "FSTYPE,SOURCE,OPTIONS", mount.mountpoint)
        let words = found.text.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(words.count == 3)
        #expect(words.first == "fuse.ffmount")
        #expect(words.dropFirst().first == scratch.source)
        #expect(words.last?.split(separator: ",").contains(MountProcess.isWritable ? "rw" : "ro") ?? false)
      }
    }
  }

  /// The use from /etc/fstab. mount(8) searches only the system's folders for programs, so this test puts ffmount there
  /// in a mount namespace of its own.
  @Test(
    .enabled(
      if: MountScratch.isRoot && MountScratch.has("mount.fuse3") && MountScratch.has("unshare"),
      "needs root, mount.fuse3 and unshare"),
    arguments: [false, true]) func mountCommandAndFstabWork(fromTable: Bool) async throws
  {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      let result = try await shell(
        """
        cd "$1" && mkdir bin && cp "$2" bin/ffmount && exec unshare -m --propagation slave bash -c '
          mount --bind bin /usr/local/bin || exit 90
          options=ro,allow_other,noauto,user,_netdev,nofail,x-systemd.idle-timeout=60,uid=1000,gid=1001,umask=022
          if [ "$2" = true ]; then
            printf "%s %s fuse.ffmount %s 0 0\n" "$1/source" "$1/mnt" "$options" >fstab
            mount -T fstab "$1/mnt" || exit
          else
            mount -t fuse.ffmount "$1/source" "$1/mnt" -o "$options" || exit
          fi
          stat -c "%u %g %a" mnt/file
          findmnt -n -o FSTYPE mnt
          umount mnt && ls mnt' bash "$1" "$3"
        """, scratch.path, MountProcess.binary, "\(fromTable)")
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.lines == ["1000 1001 644", "fuse.ffmount"])
      try await expectNoDaemon(scratch.mountpoint)
    }
  }

  @Test func sourceCanBeASingleFile() async throws {
    try await withScratch { scratch in
      try scratch.write(
        "a.zip",
        ZipFixture(
          ZipFixtureEntry("folder/in.txt", "inside"),
          ZipFixtureEntry("inner.zip", ZipFixture(ZipFixtureEntry("x", "deep")).bytes())))
      try scratch.write("tool.bin", ZipFixture(ZipFixtureEntry("x", "by content")))
      try await withMount(scratch.source + "/a.zip", at: scratch.mountpoint) { mount in
        let found = try await shell(
          "cd \"$1\"; find . | sort; cat folder/in.txt inner.zip.contents/x", mount.mountpoint)
        #expect(
          found.text
            == ".\n./folder\n./folder/in.txt\n./inner.zip\n./inner.zip.contents\n./inner.zip.contents/x\ninsidedeep")
        // The root is a view that was named, which programs that copy trees see as all others do.
        let copied = try await shell(
          "cd \"$1\" && cp -r . ../copy && diff -r . ../copy && tar -cf - . | tar -t | wc -l", mount.mountpoint)
        #expect(copied.text == "6\n", "\(copied.text)\(copied.errors)")
      }
      try await withMount(scratch.source + "/tool.bin", at: scratch.mountpoint, options: ["-o", "view=contents"]) {
        (mount) async throws in
        #expect(try await run("cat", mount.mountpoint + "/x").text == "by content")
      }
    }
  }
}
