import Foundation
import TestSupport
import Testing

/// Wrong command lines, and what is said of them.
@Suite(.timeLimit(.minutes(1))) struct MisuseTests {
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
    Case(line: "-o depht=2 a b", says: "-o depht=2 (did you mean -o depth? see MOUNT OPTIONS in: man ffmount)"),
    Case(line: "-o password-file=x a b", says: "did you mean -o password_file?"),
    Case(line: "-o frobnicate a b", says: "unknown option -o frobnicate (see MOUNT OPTIONS in: man ffmount)"),
    Case(line: "-o depth=99 a b", says: "expected 0 to 64 (see MOUNT OPTIONS in: man ffmount)"),
    Case(line: "-o depth a b", says: "(N is a number; see man ffmount)"),
    Case(line: "why --jsn x", says: "--json"),
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
