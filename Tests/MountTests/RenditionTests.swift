import TestSupport
import Testing

/// Conversions through a mount, made by a worker that imitates ffconvert: see Tests/Scripts/fake_worker.py.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RenditionTests {
  static let worker = MountScratch.package + "/Tests/Scripts/fake_worker.py"

  /// Mounts a scratch folder with a cache of its own.
  func withMount(
    _ scratch: MountScratch, _ options: String = "workers=2", _ body: (MountProcess) async throws -> Void
  ) async throws {
    try await TestSupport.withMount(
      scratch, options: ["-o", "converter=\(Self.worker),views=+png,\(options)"],
      environment: ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path], body)
  }

  func run(_ lines: String, _ mount: MountProcess, _ scratch: MountScratch) async throws -> String {
    try await mount.shell(lines, scratch)
  }

  func expect(
    _ lines: String, _ mount: MountProcess, _ scratch: MountScratch, says expected: String,
    _ place: SourceLocation = #_sourceLocation
  ) async throws {
    let said = try await run(lines, mount, scratch)
    #expect(said == expected, sourceLocation: place)
  }

  /// Programs that take a file's size from stat before they open it, and write what they read to `$O`.
  static let readers = [
    "for f in *.as-jpeg; do cat $f > $O/$f; done", "cp *.as-jpeg $O", "cp -r . $O",
    "tar -cf - *.as-jpeg | tar -C $O -xf -", "rsync -a --include='*.as-jpeg' --exclude='*' ./ $O/",
    "zip -q $O/x.zip *.as-jpeg && unzip -q -d $O $O/x.zip",
    "for f in *.as-jpeg; do dd if=$f of=$O/$f bs=1M status=none; done",
    """
    python3 -c '
    import glob, mmap, os, sys
    for name in glob.glob("*.as-jpeg"):
        with open(name) as file, open(os.environ["O"] + "/" + name, "wb") as copy:
            copy.write(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))'
    """,
    // Programs that stop at the size that the kernel has when open returns: sendfile(2).
    "for f in *.as-jpeg; do busybox cp $f $O/$f; done", "for f in *.as-jpeg; do busybox cat $f > $O/$f; done",
    // Programs that read as much as stat reported, each started for one file and then for several.
    "for f in *.as-jpeg; do busybox tar -cf - $f | tar -C $O -xf -; done",
    "busybox tar -cf - *.as-jpeg | tar -C $O -xf -", "bsdtar -cf - *.as-jpeg | bsdtar -C $O -xf -",
    """
    for f in *.as-jpeg; do python3 -Ic '
    import os, sys
    name, folder = sys.argv[1:]
    size = os.stat(name).st_size
    with open(name, "rb") as file, open(folder + "/" + name, "wb") as copy: copy.write(file.read(size))
    ' $f $O; done
    """,
  ]

  @Test(arguments: readers) func firstReadReturnsAllBytes(_ reader: String) async throws {
    try await withScratch { scratch in
      for size in [10, 5000, 300_000] {
        // One grows and one shrinks.
        try scratch.write("grows\(size).png", "echo\n" + String(repeating: "g", count: size))
        try scratch.write("shrinks\(size).png", "half\n" + String(repeating: "s", count: size))
      }
      try await withMount(scratch) { mount in
        // The size is known before the first open, and is never 0.
        try await expect("find . -name '*.as-jpeg' -size -1c", mount, scratch, says: "")
        try await expect(reader, mount, scratch, says: "")
        let check = """
          for f in *.as-jpeg; do
            cmp $f $O/$f; [ $(stat -c %s $f) = $(cat $f | wc -c) ] || echo size of $f
            case $f in grows*) tail -n +2 $f | cmp - $S/${f%.as-jpeg};; esac
            s=$(stat -c %s $S/${f%.as-jpeg}); n=$(stat -c %s $f)
            case $f in grows*) [ $n -gt $s ];; *) [ $n -lt $s ];; esac || echo $f: $n of $s
            getfattr --only-values -n user.ffmount.state $f | grep -qx exact || echo state of $f
          done; ls | wc -l
          """
        try await expect(check, mount, scratch, says: "12\n")
      }
    }
  }

  @Test func secondCopyTransfersNothing() async throws {
    try await withScratch { scratch in
      for number in 0..<20 { try scratch.write("\(number).png", "echo\n\(number)") }
      try await withMount(scratch) { mount in
        _ = try await run("rsync -a ./ $O/", mount, scratch)
        try await expect("rsync -a --out-format=%n ./ $O/; ls $O | wc -l", mount, scratch, says: "40\n")
      }
      // Nor after a remount, though nothing is converted then and the results are gone.
      _ = try await shell("rm -r \"$1\"/cache/ffmount/renditions", scratch.path)
      try await withMount(scratch) { mount in
        try await expect("rsync -a --out-format=%n ./ $O/; workers", mount, scratch, says: "")
      }
    }
  }

  @Test func listingConvertsNothing() async throws {
    try await withScratch { scratch in
      for number in 0..<1000 { try scratch.write("\(number).heic", "echo") }
      try scratch.write("a.pdf", "pages 3")
      try await withMount(scratch) { mount in
        // Not even a worker is started.
        let list = "ls -l | grep -c as-jpeg; stat -c %F a.pdf.pages; workers"
        try await expect(list, mount, scratch, says: "1000\ndirectory\n")
        // From the listing alone: find opens folders.
        let kinds = "find . -maxdepth 1 -type f | wc -l; find . -maxdepth 1 -type d -name '*.*s'"
        try await expect(kinds, mount, scratch, says: "2002\n./a.pdf.pages\n")
        // The names of a PDF's pages need only their number.
        let pages = "ls -l a.pdf.pages | wc -l; find . -printf x | wc -c; ls $S/../cache/ffmount/renditions"
        let found = try await run(pages, mount, scratch)
        #expect(found.hasPrefix("4\n2007\nls: cannot access"))
      }
    }
  }

  @Test func busyWorkersDoNotDelayOtherRequests() async throws {
    try await withScratch { scratch in
      for name in ["a", "b", "c"] { try scratch.write("\(name).png", "hang") }
      try scratch.write("notes.txt", "hello")
      try await withMount(scratch, "workers=1") { mount in
        let lines = """
          for n in a b c; do (exec timeout -s INT 8 cat $n.png.as-jpeg) & done; sleep .5
          for i in $(seq 50); do timeout 5 ls -l > /dev/null && timeout 5 cat notes.txt > /dev/null || echo slow; done
          timeout 5 cat notes.txt; wait
          for i in $(seq 300); do [ -n "$(workers)" ] || break; sleep .1; done; workers
          """
        // Nobody waits any more: the hanging worker has been killed.
        try await expect(lines, mount, scratch, says: "hello")
      }
    }
  }

  @Test func killedWorkerCausesOneError() async throws {
    try await withScratch { scratch in
      try scratch.write("a.png", "slow 20")
      try scratch.write("b.png", "echo")
      try await withMount(scratch) { mount in
        let lines = """
          why() { python3 -Ic 'import os, sys; os.listdir("."); print(os.getxattr(sys.argv[1], "user.ffmount." + sys.argv[2]).decode())' "$1" "${2:-error}"; }
          cat a.png.as-jpeg & sleep 1; kill -KILL $(workers); wait $!; echo $?
          why a.png.as-jpeg; why a.png.as-jpeg state; tail -n 1 b.png.as-jpeg
          """
        try await expect(
          lines, mount, scratch,
          says: """
            cat: a.png.as-jpeg: Input/output error
            1
            a.png: the converter was killed (SIGKILL)
            failed
            echo
            """)
        #expect(mount.daemon.saidSoFar.contains("a.png.as-jpeg: the converter was killed (SIGKILL)"))
      }
    }
  }

  @Test func conversionFailuresReportTheirReason() async throws {
    try await withScratch { scratch in
      try scratch.write("broken.png", "fail 1 expected a header")
      try scratch.write("locked.pdf", "fail 3 a password is needed")
      try scratch.write("not.pdf", "hello")
      try await withMount(scratch) { mount in
        let lines = """
          for i in 1 2; do cat broken.png.as-jpeg; done; ls locked.pdf.pages; ls not.pdf.pages
          for f in broken.png.as-jpeg locked.pdf.pages; do getfattr --only-values -n user.ffmount.error $f; echo; done
          """
        try await expect(
          lines, mount, scratch,
          says: """
            cat: broken.png.as-jpeg: Input/output error
            cat: broken.png.as-jpeg: Input/output error
            ls: cannot open directory 'locked.pdf.pages': Permission denied
            ls: cannot open directory 'not.pdf.pages': Input/output error
            broken.png: expected a header
            locked.pdf: a password is needed

            """)
      }
    }
  }

  @Test func mountLeavesNoWorkersOrFiles() async throws {
    try await withScratch { scratch in
      for number in 0..<50 { try scratch.write("\(number).png", number % 5 == 0 ? "crash" : "echo\n\(number)") }
      try scratch.write("hang.png", "hang")
      var daemon: Int32 = 0
      try await withMount(scratch) { mount in
        daemon = mount.daemon.pid
        let before = try await MountFootprint(of: daemon)
        _ = try await run(
          "timeout 5 cat hang.png.as-jpeg & cat ?.png.as-jpeg ??.png.as-jpeg > /dev/null; wait", mount, scratch)
        let after = try await MountFootprint(of: daemon)
        // Each of two workers has a socket, its standard error and its memory statistics, and each of ten threads a pipe.
        // Of fifty conversions none keeps a descriptor.
        #expect(after.descriptors <= before.descriptors + 2 * 3 + 10 * 2 + 10, "\(before), then \(after)")
      }
      // No worker outlives the mount, and no file is left.
      let left = try await shell(
        "ls /proc/*/task/$1/children 2>/dev/null; cd \"$2\"; ls; ls -a cache/ffmount/renditions | grep -vE '^[0-9a-f]{64}$'",
        "\(daemon)", scratch.path)
      #expect(left.text == "cache\nmnt\nout\nsource\n.\n..\nkey\nturns\n")
    }
  }

  @Test func changedSourceNeverServesAStaleResult() async throws {
    try await withScratch { scratch in
      try scratch.write("a.png", "slow 2")
      try await withMount(scratch) { mount in
        let lines = """
          cat a.png.as-jpeg > $O/first & sleep 1; printf 'echo new' > $S/a.png; wait
          # Who asked before gets an error or the new state, but not the old one as if it were new.
          grep -c slow $O/first; sleep .6; tail -n 1 a.png.as-jpeg
          """
        try await expect(lines, mount, scratch, says: "0\necho new")
      }
    }
  }

  @Test func pdfAsSourceShowsItsPages() async throws {
    try await withScratch { scratch in
      try scratch.write("a.pdf", "pages 3")
      let options = ["-o", "converter=\(Self.worker)"]
      try await TestSupport.withMount(scratch.source + "/a.pdf", at: scratch.mountpoint, options: options) { mount in
        try await expect(
          "ls; head -n 1 2-3.pdf | cut -d' ' -f2-", mount, scratch, says: "001.pdf\n002.pdf\n003.pdf\npages 2-3\n")
      }
      try scratch.write("b.pdf", "fail 3 a password is needed")
      // A locked document can be unlocked while it is mounted.
      try await TestSupport.withMount(scratch.source + "/b.pdf", at: scratch.mountpoint, options: options) { mount in
        let lines = """
          ls "$1" 2>&1 | grep -o 'Permission denied'
          getfattr --only-values -n user.ffmount.error "$1" | grep -o 'a password is needed'
          """
        let said = try await shell(lines, mount.mountpoint)
        #expect(said.text == "Permission denied\na password is needed\n", "\(said.text) \(said.errors)")
      }
    }
  }
}
