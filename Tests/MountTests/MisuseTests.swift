import Foundation
import TestSupport
import Testing

/// Wrong command lines, and what is said of them.
@Suite(.timeLimit(.minutes(5))) struct MisuseTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let line: String
    let says: String
    var testDescription: String { line }
  }

  static let cases = [
    Case(line: "umount mnt", says: "type: ffmount unmount mnt"),
    Case(line: "umount", says: "type: ffmount unmount MOUNTPOINT"),
    Case(line: "--unmount mnt", says: "type: ffmount unmount mnt"),
    Case(line: "--umount mnt", says: "type: ffmount unmount mnt"),
    Case(line: "--list", says: "type: ffmount list"),
    Case(line: "--frobnicate a b", says: "--frobnicate"),
    Case(line: "list mnt", says: "write ./list"),
    Case(line: "status --json more", says: "ffmount help status"),
    Case(line: "search", says: "Missing"),
    Case(line: "", says: "<source>"),
    Case(line: "lst", says: "lst is not a command, folder or file (type: ffmount list)"),
    Case(line: "unmont mnt", says: "(type: ffmount unmount mnt)"),
    Case(line: "serach a.mbox invoice", says: "(type: ffmount search a.mbox invoice)"),
    Case(line: "doctro", says: "(type: ffmount doctor)"),
    Case(line: "help bogus", says: "bogus is not a command (type: ffmount help)"),
    Case(line: "help serch", says: "(type: ffmount help search)"),
    Case(line: "help umount", says: "(type: ffmount help unmount)"),
    Case(line: "-o depht=2 a b", says: "-o depht (did you mean -o depth? see MOUNT OPTIONS in: man ffmount)"),
    Case(line: "-o password-file=x a b", says: "did you mean -o password_file?"),
    Case(line: "-o frobnicate a b", says: "unknown option -o frobnicate (see MOUNT OPTIONS in: man ffmount)"),
    Case(line: "-o depth=99 a b", says: "expected 0 to 64 (see MOUNT OPTIONS in: man ffmount)"),
    Case(line: "-o depth a b", says: "(N is a number; see man ffmount)"),
    Case(line: "why --jsn x", says: "--json"),
    Case(line: "--bogus", says: "Unknown option '--bogus' (type ffmount --help"),
    Case(line: "-v", says: "Unknown option '-v' (did you mean -V?)"),
    Case(line: "-f -u mnt", says: "Unknown option '-u' (put it first: ffmount -u MOUNTPOINT)"),
    Case(line: "-o password=secret a b", says: "unknown option -o password (did you mean -o password_file?"),
    Case(line: "index --jobs 0 source", says: "--jobs 0: expected 1 to 256"),
    Case(line: "search source '\"open'", says: "a quotation mark is not closed (see: ffmount help search)"),
    Case(line: "search source --jso x", says: "Unknown option '--jso' (type ffmount help search"),
    Case(line: "save list as-jpeg", says: "the view comes first (type: ffmount save as-jpeg list)"),
    Case(line: "why $'x\\xff'", says: "it is not in UTF-8 (mount the folder that contains it)"),
    Case(line: "serve source --log none/x", says: "--log none/x: No such file or directory (check the path"),
    Case(line: "serve source -o rw,uid=3", says: "-o rw: not with uid="),
    Case(line: "serve source --tls a b", says: "--tls a: No such file or directory"),
  ]

  @Test(arguments: cases) func wrongUsageSuggestsTheCorrectCommand(_ one: Case) async throws {
    try await withScratch { scratch in
      // A folder that is called like a command.
      let said = try await shell(
        "cd \"$1\"; mkdir list; \"$2\" \(one.line)", scratch.path, MountProcess.binary, limit: 10)
      #expect(said.status == 64, "\(said.text)")
      // A script that asked for JSON gets JSON.
      #expect(one.line.contains("--json") ? said.text.hasPrefix("{\"error\": ") : said.text.isEmpty, "\(said.text)")
      let lines = said.errors.split(separator: "\n")
      #expect(lines.count == 1 && lines.allSatisfy { $0.hasPrefix("ffmount: ") }, "\(said.errors)")
      #expect(said.errors.contains(one.says), "\(said.errors)")
    }
  }

  struct Failure: CustomTestStringConvertible, Sendable {
    let line: String
    let status: Int32
    let says: String
    var testDescription: String { line }
  }

  static let failures = [
    Failure(line: "save as-jpgg source/t.txt", status: 65, says: "did you mean as-jpeg?"),
    Failure(line: "save jpeg source/t.txt", status: 65, says: "did you mean as-jpeg?"),
    Failure(line: "save 9000%.as-jpeg source/t.csv", status: 65, says: "see MODIFIERS in: man ffmount"),
    Failure(line: "save as-txt --to nothere source/t.csv", status: 1, says: "(make it with: mkdir -p nothere)"),
    Failure(
      line: "save as-txt --to source/t.txt source/t.csv", status: 1,
      says: "(it is not a folder: give another folder with --to FOLDER)"),
    Failure(line: "search source/t.txt x", status: 65, says: "not a mailbox (give a mailbox"),
    Failure(line: "search x source", status: 66, says: "the folder comes first: ffmount search FOLDER QUERY"),
    Failure(line: "index source/t.txt", status: 65, says: "not a mailbox (give a mailbox, or a folder)"),
    Failure(line: "verify source/t.txt", status: 65, says: "compressed file (give one, or a folder)"),
    Failure(line: "open http://127.0.0.1:1", status: 66, says: "mount it: ffmount http://127.0.0.1:1 MOUNTPOINT"),
    Failure(line: "source mnt -o converter=source", status: 64, says: "Is a directory (give the path of the program"),
    Failure(
      line: "source mnt -o shared_cache=$PWD/none/cache", status: 64,
      says: "none/cache does not exist, and cannot be created (create it, or check the path)"),
    Failure(line: "formats >&-", status: 1, says: "cannot print: Bad file descriptor"),
    Failure(line: "doctor --json mnt/..", status: 66, says: "not an ffmount mount"),
    Failure(line: "doctor none", status: 66, says: "No such file or directory (check the path)"),
    Failure(line: "ftp://localhost/x mnt", status: 66, says: "begins with http://, https://, s3:// or sftp://"),
    Failure(line: "-u /proc", status: 73, says: "mounted by another program, as proc (use umount)"),
  ]

  @Test(arguments: failures) func failuresNameCauseAndRemedy(_ one: Failure) async throws {
    try await withScratch { scratch in
      try scratch.write("t.txt", "text")
      try scratch.write("t.csv", "a,b\n")
      let said = try await shell(
        "cd \"$1\"; export XDG_CACHE_HOME=$1/cache DISPLAY= WAYLAND_DISPLAY=; \"$2\" \(one.line)", scratch.path,
        MountProcess.binary, limit: 20)
      #expect(said.status == one.status && said.errors.contains(one.says), "\(said.status) \(said.errors)")
    }
  }

  /// Reading is refused, in the way of a mount, and in one that only another user sees.
  @Test(.enabled(if: getuid() == 0, "needs root")) func advisesUsersOnPermissions() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      try scratch.write("private/x", "")
      let lines = """
        cd "$1"; chmod 755 . source; as() { setpriv --reuid=65534 --clear-groups -- "$@" 2>&1; }
        export XDG_CACHE_HOME=/nowhere; cp "$2" .; mkdir theirs full; touch full/x; chmod 700 source/private; chown 65534 mnt
        as ./ffmount --version >/dev/null || exit 90
        as ./ffmount source full; for c in verify index; do as ./ffmount $c source/private; done; as ./ffmount search source/private x
        as ./ffmount -o supervise=off source mnt || exit 92
        ./ffmount why mnt/a.zip; as ./ffmount source mnt/a.zip.contents; as ./ffmount -u mnt
        chmod 600 source/a.zip; chown 65534 source; as ./ffmount -o supervise=off source mnt; as ./ffmount why mnt/a.zip.contents
        for c in doctor unlock upgrade; do ./ffmount $c mnt 2>&1; done
        as ./ffmount -u mnt; ./ffmount source mnt; as ./ffmount save as-txt mnt/a.zip; as ./ffmount mnt theirs
        as ./ffmount source mnt; ./ffmount -u mnt
        for _ in 1 2 3; do (as ./ffmount -o supervise=off source mnt; echo "ended $?") & done; wait; ./ffmount -u mnt
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary, limit: 40)
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      if [90, 92].contains(said.status) { try Test.cancel("another user may not run or mount here: \(said.text)") }
      for line in [
        "cannot mount on full: Permission denied (use a folder of yours)\n",
        "cannot read source/private: Permission denied (check its permissions)\n",
        "mnt/a.zip.contents: Read-only file system (use a folder outside the mount on \(scratch.mountpoint))\n",
        "made by ffmount, of a file that you do not have permission to read\n",
        "cannot read mnt/a.zip: in a mount that only user 0 can see (mount it with -o allow_other",
        "cannot show mnt: in a mount that only user 0 can see",
        "cannot mount on mnt: in a mount that only user 0 can see",
      ] { #expect(said.text.contains(line), "\(line)\(said.text)\(said.errors)") }
      #expect(said.text.components(separatedBy: "cannot read source/private").count == 4, "\(said.text)")
      for command in ["doctor", "unlock", "upgrade"] {
        let advice = "only user 65534 can see it (type: sudo -u '#65534' ffmount \(command) \(scratch.mountpoint))"
        #expect(said.text.contains(advice), "\(advice)\(said.text)")
      }
      let ends = said.lines.filter { $0.hasPrefix("ended") }.sorted()
      #expect(ends == ["ended 0", "ended 73", "ended 73"], "\(said.text)")
    }
  }

  /// ffmount without its converters.
  @Test func missingConverterIsReportedOnce() async throws {
    try await withScratch { scratch in
      let said = try await shell(
        """
        cd "$1" && cp "$2" . && export XDG_CACHE_HOME=$PWD/cache
        ./ffmount source mnt; ls mnt; ./ffmount -u mnt; ./ffmount doctor; echo "ended $?"; ./ffmount formats | tail -7
        """, scratch.path, MountProcess.binary)
      // By the mount, and nowhere else.
      #expect(
        said.errors.split(separator: "\n").count == 1
          && said.errors.hasPrefix("ffmount: ffarchive, ffconvert and ffpages not found"),
        "\(said.errors)")
      #expect(said.errors.contains("ffmount-converters") && said.errors.contains("scripts/install"))
      // A package that may not be wanted is noted. No repository has it, and this program is not in /usr/bin.
      let doctor = try #require(said.lines.firstIndex { $0.hasPrefix("note  ffconvert") }, "\(said.text)")
      #expect(said.lines[doctor].contains("not installed: for PDFs, images, and archives"), "\(said.text)")
      #expect(said.lines[doctor + 1].hasSuffix("fix it with: scripts/install"), "\(said.text)")
      for program in ["ffkeep", "ffserve", "ffremote", "ffscan", "ffmedia", "ffoffice", "fflayout", "ffdisk"] {
        #expect(said.lines.contains { $0.hasPrefix("note  \(program) ") }, "\(program): \(said.text)")
      }
      #expect(!said.lines.contains { $0.hasPrefix("bad ") && $0.contains("ff") && !$0.contains("/") }, "\(said.text)")
      let isBad = said.lines.contains { $0.hasPrefix("bad ") }
      #expect(said.lines.contains(isBad ? "ended 1" : "ended 0"), "\(said.text)")
      // Packages and their purposes, not the verbs of recipes.
      let lacking = said.lines.filter { $0.hasPrefix("Not installed: ") }
      #expect(lacking.contains { $0.hasPrefix("Not installed: ffarchive, ffconvert, ffpages, ffdisk, for PDFs, ") })
      #expect(lacking.contains { $0.contains("ffmedia, for sound and films (install the package ffmount-media") })
      #expect(!lacking.contains { $0.contains("joined-") || $0.contains("layout-") }, "\(lacking)")
    }
  }

  /// Every failure with --json, also of the command line, is an object with the key `error`.
  @Test(arguments: [
    "list more --json", "status --jsn --json", "doctor --json /nowhere/at/all", "why --json", "why /etc/passwd --json",
    "search --json", "search /nowhere x --json", "verify /nowhere --json", "formats --json --mime",
    "discover --json --timeout 0",
  ]) func errorsAreJSONOnRequest(_ line: String) async throws {
    let said = try await shell("exec \"$1\" \(line)", MountProcess.binary, limit: 20)
    #expect(said.status != 0)
    let object = try JSONSerialization.jsonObject(with: Data(said.bytes)) as? [String: String]
    let error = try #require(object?["error"], "\(said.text)")
    #expect(said.errors == "ffmount: \(error)\n", "\(said.errors)")
  }

  // MARK: What is documented

  private static func text(_ path: String) async throws -> String {
    try await run("cat", MountScratch.package + "/" + path).text
  }

  private static let manual = "scripts/man/ffmount.1"

  @Test func everyCommandIsDocumented() async throws {
    let help = try await run(MountProcess.binary, "--help").lines
    let start = try #require(help.firstIndex { $0.hasPrefix("COMMANDS") })
    let commands = help[(start + 1)...].prefix { $0.hasPrefix("  ") }.compactMap { line in
      // Those that go on in another line would be taken for commands.
      line.split(separator: " ").first.map(String.init)
    }
    #expect(Set(["open", "list", "unmount", "why", "index", "doctor"]).isSubset(of: commands), "\(commands)")
    let manual = try await Self.text(Self.manual)
    let troubles = try await Self.text("Sources/Programs/ffmount/ffmount.docc/Troubleshooting.md")
    let described = manual.split(separator: "\n").compactMap { line -> Substring? in
      let words = line.split { $0 == " " || $0 == "\"" }
      return words.count > 1 && [".B", ".BI", ".BR"].contains(words[0]) ? words[1] : nil
    }
    for command in commands + ["mount", "help"] {
      #expect(described.contains(Substring(command)), "\(command)")
      // As a word that a SOURCE cannot have.
      #expect(troubles.contains("`\(command)`"), "\(command)")
      let own = try await run(MountProcess.binary, "help", command)
      #expect(own.status == 0 && own.text.contains("USAGE"), "\(command)")
    }
  }

  /// The help, the manual page and Semantics.md have the same syntax of queries.
  @Test func querySyntaxIsDescribedConsistently() async throws {
    func plain(_ text: String) -> Substring? {
      let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("\\-", with: "-")
      guard let start = words.firstRange(of: "A query is "),
        let end = words[start.upperBound...].firstRange(of: "smaller:10k.")
      else { return nil }
      return words[start.upperBound..<end.upperBound]
    }
    let help = try await run(MountProcess.binary, "help", "search").text
    let syntax = try #require(plain(help), "\(help)")
    let manual = try await Self.text(Self.manual)
    #expect(syntax == plain(manual), "\(syntax)")
    let semantics = try await Self.text("Sources/Programs/ffmount/ffmount.docc/Semantics.md")
    // A query with an unknown prefix is told those that there are.
    let refused = try await run(MountProcess.binary, "search", MountProcess.binary, "nothing:x")
    let known = refused.errors.replacing(",", with: "").split(separator: " ").filter {
      $0.wholeMatch(of: /[a-z]+:/) != nil && $0 != "ffmount:"
    }
    #expect(known.count >= 16, "\(refused.errors)")
    for prefix in known {
      #expect(syntax.contains(prefix), "\(prefix)")
      #expect(semantics.contains("`\(prefix)"), "\(prefix)")
    }
  }
}
