import Foundation
import Glibc
import TestSupport
import Testing

/// `NAME.views/search/QUERY/` and `ffmount search`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SearchTests {
  private func withMails(_ body: (MountScratch, [String: String]) async throws -> Void) async throws {
    try await withScratch { scratch in
      try scratch.write("a.mbox", Self.mails.joined())
      // Waits until a change of the file would be visible in its time: only then are its words stored.
      try await Task.sleep(for: .milliseconds(60))
      try await body(scratch, ["XDG_CACHE_HOME": scratch.path + "/cache"])
    }
  }

  @Test func queriesFindExpectedMessages() async throws {
    try await withMails { scratch, environment in
      try await withMount(scratch, environment: environment) { mount in
        let search = mount.mountpoint + "/a.mbox.views/search"
        for (query, numbers) in Self.queries {
          let listed = try await shell("ls -U \"$1\"", "\(search)/\(query)")
          #expect(
            listed.lines.map { String($0.prefix(6)) } == numbers.map { "00000\($0)" },
            "\(query): \(listed.text)\(listed.errors)")
        }
        let latest = try await run("ls", "-U", search)
        #expect(latest.lines.map { String($0) } == Array(Self.queries.map { $0.0 }.suffix(10).reversed()))
        let said = try await shell(
          "getfattr -d --absolute-names \"$1/inv*\"; cmp \"$1\"/q3/*/message.eml \"$2\"/000001*/message.eml && echo same",
          search,
          mount.mountpoint + "/a.mbox.messages")
        #expect(
          said.text.contains("user.ffmount.results=\"2\"") && said.text.contains("state=\"exact\""), "\(said.text)")
        #expect(said.text.hasSuffix("same\n") && !said.text.contains("searched"), "\(said.text)")
      }
    }
  }

  /// Another user sees the queries of nobody else.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func latestQueriesAreOfOneUser() async throws {
    try await withMails { scratch, environment in
      try await withMount(scratch, options: ["-o", "allow_other"], environment: environment) { mount in
        let said = try await shell(
          """
          as() { id=$1; shift; setpriv --reuid=$id --regid=$id --clear-groups -- "$@"; }
          cd "$1"; ls invoice > /dev/null; as 65534 ls q3 > /dev/null; as 1 ls lunch > /dev/null
          ls; as 65534 ls; as 1 ls; as 2 ls
          """, mount.mountpoint + "/a.mbox.views/search")
        #expect(said.text == "invoice\nq3\nlunch\n", "\(said.text)\(said.errors)")
      }
    }
  }

  @Test func invalidQueriesReportReason() async throws {
    try await withMails { scratch, environment in
      try await withMount(scratch, environment: environment) { mount in
        let search = mount.mountpoint + "/a.mbox.views/search"
        for (query, reason) in [
          ("\"open", "quotation mark"), ("after:soon", "needs a date"), ("has:wings", "has:attachment"),
        ] {
          let said = try await shell(
            "ls -A \"$1\"; getfattr --absolute-names --only-values -n user.ffmount.error \"$1\"; getfattr --absolute-names --only-values -n user.ffmount.state \"$1\"",
            "\(search)/\(query)")
          #expect(
            said.text.contains(reason) && said.text.hasSuffix("failed") && said.errors == "",
            "\(said.text)\(said.errors)")
        }
        // Names that programs probe everywhere are not queries, and invalid queries are not remembered.
        let probes = try await shell(
          """
          cd "$1"; for name in .hidden .Trash .Trash-1000 .directory .DS_Store desktop.ini Desktop.ini folder.jpg Folder.jpg \
            Thumbs.db autorun.inf AutoRun.inf cover.png AlbumArtSmall.jpg '$RECYCLE.BIN' 'System Volume Information'
          do LC_ALL=C stat "$name" 2>&1 | grep -q 'No such file' || echo "$name is there"; done; ls -A
          """, search)
        #expect(probes.text == "" && probes.errors == "", "\(probes.text)\(probes.errors)")
      }
    }
  }

  @Test func searchCommandWorksWithoutAMount() async throws {
    try await withMails { scratch, environment in
      let archive = scratch.source + "/a.mbox"
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 30)
      }
      let indexed = try await ffmount("index", "--search", archive)
      #expect(indexed.status == 0 && indexed.text.contains("text of "), "\(indexed.text)\(indexed.errors)")
      let lines = try await ffmount("search", archive, "invoice", "-paid")
      #expect(
        lines.text
          == "a.mbox.messages/000001 2024-05-03 Anna Berg - Q3 numbers\t2024-05-03 12:00\tAnna Berg\tQ3 numbers\n",
        "\(lines.text)\(lines.errors)")
      let json = try await ffmount("search", "--json", archive, "subject:資料 OR filename:tax")
      let read = try await MountChild(
        [
          MountScratch.python, "-c",
          "import json, sys; print([(m['subject'], m['date']) for m in json.loads(sys.argv[1])])", json.text,
        ]
      ).wait(atMost: 20)
      #expect(
        read.text == "[('files', '2021-02-02 12:00'), ('会議の資料', '2020-01-01 12:00')]\n", "\(json.text)\(read.errors)")
      let nothing = try await ffmount("search", archive, "--json", "absent")
      #expect(nothing.text == "[]\n" && nothing.status == 1)
      #expect(nothing.errors == "ffmount: no message in \(archive) matches absent\n")
      // A missing path has the same status for both commands.
      for command in ["search", "index"] {
        let missing = try await MountChild(
          [MountProcess.binary, command, archive + "x"] + (command == "search" ? ["x"] : []), environment: environment
        ).wait(atMost: 30)
        #expect(missing.status == 66 && missing.errors.contains("No such file"), "\(missing.errors)")
      }
      let bad = try await ffmount("search", archive, "has:wings")
      #expect(bad.status == 64 && bad.text == "" && bad.errors.contains("has:attachment"), "\(bad.errors)")
      // With --json every error is an object.
      for (words, part) in [
        (["has:wings"], "has:attachment"), (["\"open"], "quotation mark"), (["list:x"], "'list:' is not a prefix"),
      ] {
        let said = try await MountChild(
          [MountProcess.binary, "search", "--json", archive] + words, environment: environment
        ).wait(atMost: 30)
        #expect(said.status == 64)
        #expect(try Self.error(in: said.text).contains(part), "\(said.text)")
      }
      for (path, part) in [("/bin/sh", "not a mailbox"), (archive + "x", "No such file")] {
        let said = try await ffmount("search", path, "x", "--json")
        #expect(said.status != 0)
        #expect(try Self.error(in: said.text).contains(part), "\(said.text)\(said.errors)")
      }
      // The options of a folder's search apply to a mailbox, too.
      let all = try await ffmount("search", archive, "invoice")
      let paths = all.lines.map { String($0.prefix { $0 != "\t" }) }
      let one = try await ffmount("search", archive, "invoice", "--limit", "1")
      #expect(one.lines == [all.lines[0]] && one.status == 0)
      let bare = try await ffmount("search", archive, "invoice", "-l")
      #expect(bare.lines == paths)
      let zeros = try await ffmount("search", archive, "invoice", "-0")
      #expect(zeros.text == paths.map { $0 + "\0" }.joined())
      let absent = try await ffmount("search", archive, "invoice", "--open", "99")
      #expect(
        absent.status == 64 && absent.errors.contains("--open 99: only \(paths.count) results"), "\(absent.errors)")
      let both = try await ffmount("search", archive, "invoice", "-l", "--json")
      #expect(both.status == 64 && both.errors.contains("--json excludes -l"), "\(both.errors)")
      let words = try await ffmount("search", archive, "--", "invoice", "-paid")
      #expect(words.text == lines.text, "\(words.errors)")
      let full = try await shell("\"$1\" search \"$2\" invoice >/dev/full", MountProcess.binary, archive)
      #expect(full.status == 2 && full.errors.contains("No space left"), "\(full.errors)")
      let none = try await ffmount("search", "/bin/sh", "x")
      #expect(none.status == 65 && none.errors.contains("not a mailbox (give a mailbox"), "\(none.errors)")
      // The words are removed with the rest.
      let status = try await ffmount("cache", "clear", archive)
      #expect(status.text.contains("Forgot"))
      let left = try await shell("find \"$1\" -name '*.sqlite' -path '*texts*' | wc -l", scratch.path + "/cache")
      #expect(left.text == "0\n")
    }
  }

  /// The `error` of a JSON object.
  private static func error(in json: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
    return try #require((object as? [String: String])?["error"])
  }

  /// Without a cache folder, words are stored in an unnamed file.
  @Test func searchWorksWithoutACacheDirectory() async throws {
    try await withMails { scratch, _ in
      let nowhere = ["XDG_CACHE_HOME": "relative", "HOME": "relative", "TMPDIR": scratch.path]
      try await withMount(scratch, environment: nowhere) { mount in
        let search = mount.mountpoint + "/a.mbox.views/search"
        let listed = try await shell(
          "ls -U \"$1/invoice\" \"$1/from:anna\"; find \"$2\" -xdev -name '*etilqs*' -o -xdev -name '*.sqlite' | wc -l",
          search,
          scratch.path)
        #expect(
          listed.lines.filter { $0.hasPrefix("00000") }.map { $0.prefix(6) } == ["000001", "000002", "000001"]
            && listed.text.hasSuffix("\n0\n"), "\(listed.text)\(listed.errors)")
      }
      let said = try await MountChild(
        [MountProcess.binary, "search", scratch.source + "/a.mbox", "invoice"], environment: nowhere
      ).wait(atMost: 30)
      #expect(said.lines.count == 2, "\(said.text)\(said.errors)")
    }
  }

  /// While another process adds words, a query waits for ten seconds; an interrupted caller returns at once, queries
  /// without words are answered, and the next listing shows all. Takes those ten seconds.
  @Test func searchListingWaitsForTheCompleteIndex() async throws {
    try await withMails { scratch, environment in
      let archive = scratch.source + "/a.mbox"
      let first = try await MountChild([MountProcess.binary, "search", archive, "invoice"], environment: environment)
        .wait(atMost: 30)
      #expect(first.lines.count == 2)
      let lock = try await shell(
        "cd \"$1\" && lock=$(ls *.sqlite-lock) && rm * && touch \"$lock\" && echo \"$1/$lock\"",
        scratch.path + "/cache/ffmount/texts")
      let other = try MountChild([
        MountScratch.python, "-c",
        "import fcntl, sys, time; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX); time.sleep(100)",
        String(lock.text.dropLast()),
      ])
      _ = try await shell("while flock -n \"$1\" true; do sleep .02; done", String(lock.text.dropLast()))
      try await withMount(scratch, environment: environment) { mount in
        let search = mount.mountpoint + "/a.mbox.views/search"
        let said = try await shell(
          """
          cd "$1"
          timeout -s INT 1 ls invoice > /dev/null; echo $?
          timeout 30 ls 'from:anna date:2024 -larger:1M' | wc -l
          timeout 60 ls -U invoice
          cat invoice/'INCOMPLETE - 0 % searched.txt'; getfattr --only-values -n user.ffmount.state invoice
          """, search, limit: 60)
        let lines = said.lines.map { String($0) }
        #expect(lines.prefix(3) == ["124", "1", "INCOMPLETE - 0 % searched.txt"], "\(said.text)\(said.errors)")
        #expect(said.text.contains("0 % of the messages") && said.text.hasSuffix("estimate"), "\(said.text)")
        other.send(9)
        let all = try await shell("cd \"$1\"; ls -U invoice; getfattr -d invoice", search, limit: 30)
        #expect(
          all.lines.prefix(2).map { $0.prefix(6) } == ["000001", "000002"] && all.text.contains("state=\"exact\"")
            && !all.text.contains("INCOMPLETE"), "\(all.text)\(all.errors)")
      }
    }
  }

  /// Whatever happened to the stored words, the result is right: they are added again.
  @Test(arguments: [
    "rm $1", "truncate -s 5000 $1", "echo garbage >$1", "head -c $(stat -c %s $1) /dev/urandom >$1",
    "rm -r $(dirname $1)", "sed -i s/invoice/invoic3/g $1",
    "dd if=/dev/zero of=$1 bs=8192 seek=1 count=30 conv=notrunc",
  ])
  func damagedTextIndexDoesNotAffectSearches(_ damage: String) async throws {
    try await withMails { scratch, environment in
      for round in 0..<2 {
        try await withMount(scratch, environment: environment) { mount in
          let folder = mount.mountpoint + "/a.mbox.views/search/invoice"
          for part in 0..<2 {
            let listed = try await shell("ls -U \"$1\"", folder)
            #expect(listed.lines.count == 2, "round \(round), part \(part): \(listed.text)\(listed.errors)")
            // Also while it is in use.
            _ = try await shell("set -- $1; \(damage) 2>&1", "\(scratch.path)/cache/ffmount/texts/*.sqlite")
          }
        }
      }
    }
  }

  /// If a process is killed while it adds words, the next one continues and finds the same.
  @Test func nextSearchResumesAfterKillDuringIndexing() async throws {
    try await withScratch { scratch in
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let archive = scratch.source + "/a.mbox"
      let text = "From - \nDate: Fri, 3 May 2024 12:00:00 +0200\nFrom: a@example.com\nSubject: x\n\nneedle %s\n\n"
      let made = try await shell("printf '\(text.replacing("\n", with: "\\n"))' {1..6000} >\"$1\"", archive)
      #expect(made.status == 0)
      try await Task.sleep(for: .milliseconds(60))
      for delay in [0.05, 0.2, 0.4] {
        let child = try MountChild([MountProcess.binary, "index", "--search", archive], environment: environment)
        try await Task.sleep(for: .seconds(delay))
        child.killNow()
      }
      let found = try await MountChild(
        [MountProcess.binary, "search", archive, "needle"], environment: environment
      ).wait(atMost: 50)
      #expect(found.lines.count == 6000, "\(found.errors)")
    }
  }

  /// Stored words are kept when mail is appended, but not when the mailbox changes before that.
  @Test func indexedWordsOfGrownMailboxAreKept() async throws {
    try await withMails { scratch, environment in
      let archive = scratch.source + "/a.mbox"
      func found(_ query: String) async throws -> [Int] {
        let said = try await MountChild([MountProcess.binary, "search", archive, query], environment: environment)
          .wait(atMost: 30)
        return said.lines.compactMap { $0.split(separator: "/").dropFirst().first.flatMap { Int($0.prefix(6)) } }
      }
      func texts() async throws -> String {
        try await shell("stat -c %i \"$1\"/ffmount/texts/*.sqlite", scratch.path + "/cache").text
      }
      #expect(try await found("invoice") == [1, 2])
      let file = try await texts()
      let grown = Self.mail("From: n@example.com\nSubject: new", "another invoice", day: "1 Jan 2025")
      try scratch.append(grown, to: "a.mbox")
      try await Task.sleep(for: .milliseconds(60))
      #expect(try await found("invoice") == [7, 1, 2])
      #expect(try await texts() == file)
      // The last message itself grows.
      try scratch.append("with a postscript\n", to: "a.mbox")
      try await Task.sleep(for: .milliseconds(60))
      #expect(try await found("postscript invoice") == [7])
      try scratch.write("a.mbox", Self.mails.joined().replacing("zebra", with: "okapi") + grown + grown)
      try await Task.sleep(for: .milliseconds(60))
      for (word, numbers) in [("okapi", [5]), ("zebra", []), ("another", [8, 7])] {
        #expect(try await found(word) == numbers)
      }
    }
  }
}
