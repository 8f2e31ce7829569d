import Foundation
import Glibc
import TestSupport
import Testing

/// `FOLDER.search/QUERY/`, `NAME.ffsearch.results/` and `ffmount search FOLDER`.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FindTests {
  private func withTree(_ body: (MountScratch, [String: String]) async throws -> Void) async throws {
    try await withScratch { scratch in
      try scratch.write("docs/note.txt", "The quick zebra.\n")
      try scratch.write("docs/saved.ffsearch", "zebra\n# newest first\nsort:date\n")
      try scratch.write("docs/in.mbox", Self.mail("Numbers", "zebra invoice"))
      let inner = ZipFixture(ZipFixtureEntry("deep/x.txt", "buried zebra")).bytes()
      try scratch.write("docs/outer.zip", ZipFixture(ZipFixtureEntry("inner.zip", inner)).bytes())
      try scratch.write("docs/pages.rtf", "{\\rtf1 An okapi in a document.}")
      try scratch.write("other.txt", "another zebra")
      try await body(scratch, ["XDG_CACHE_HOME": scratch.path + "/cache"])
    }
  }

  private static func mail(_ subject: String, _ body: String) -> String {
    """
    From a@b Mon Jan  1 00:00:00 2024
    From: Anna <anna@example.com>
    Subject: \(subject)
    Date: Fri, 1 Mar 2024 12:00:00 +0000

    \(body)


    """
  }

  private static let zebras = """
    docs/in.mbox.messages/000001 2024-03-01 Anna - Numbers
    docs/note.txt
    docs/outer.zip.contents/inner.zip.contents/deep/x.txt
    docs/saved.ffsearch
    """.split(separator: "\n").map { String($0) }

  @Test func searchCommandFindsDocumentsOfAllKinds() async throws {
    try await withTree { scratch, environment in
      func search(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary, "search"] + words, environment: environment).wait(atMost: 60)
      }
      let folder = scratch.source + "/docs"
      let paths = try await search("-l", folder, "zebra")
      let zebras = Self.zebras.map { "\(scratch.source)/\($0)" }
      #expect(paths.lines.map { String($0) }.sorted() == zebras, "\(paths.errors)")
      let fields = try await search(folder, "from:anna", "invoice")
      #expect(
        fields.text.hasSuffix(
          "messages/000001 2024-03-01 Anna - Numbers\t2024-03-01 12:00\tAnna <anna@example.com>\tNumbers\n"),
        "\(fields.text)\(fields.errors)")
      let zeros = try await search("-0", folder, "quick")
      #expect(zeros.text == "\(folder)/note.txt\0")
      let others = try await search("-l", folder, "zebra", "-hound", "-quick")
      let expected = zebras.filter { !$0.hasSuffix("note.txt") }
      #expect(others.lines.map { String($0) }.sorted() == expected, "\(others.errors)")
      let json = try await search(folder, "quick", "--json", "--limit", "1")
      let read = try await MountChild(
        [
          MountScratch.python, "-c",
          "import json, sys; print([(d['path'][-8:], d['kind'], d['rank'], d['snippet']) for d in json.loads(sys.argv[1])])",
          json.text,
        ]
      ).wait(atMost: 20)
      #expect(read.text == "[('note.txt', 'text', 1, 'The quick zebra.')]\n", "\(json.text)\(read.errors)")
      let none = try await search(folder, "zebrra")
      #expect(none.status == 1 && none.text == "" && none.errors.contains("did you mean zebra"), "\(none.errors)")
      let bad = try await search(folder, "size:big")
      #expect(bad.status == 1 && bad.errors.contains("needs a size"), "\(bad.errors)")
      let mail = try await search("--mail", folder, "invoice")
      #expect(mail.lines.count == 1 && mail.text.contains("Numbers"), "\(mail.text)\(mail.errors)")
    }
  }

  /// Example of Semantics.md.
  @Test func searchFoldersOpenTheDocuments() async throws {
    try await withTree { scratch, environment in
      try await withMount(scratch, environment: environment) { mount in
        let said = try await shell(
          """
          cd "$1"; ls docs.search/zebra | grep -v RESULTS | sed 's/^[0-9]* [0-9-]* //' | sort
          for name in docs/note.txt docs/outer.zip.contents/inner.zip.contents/deep/x.txt; do
            cmp "$name" docs.search/zebra/*" ${name##*/}" && echo same; done
          cmp docs/in.mbox.messages/*/message.eml docs.search/zebra/*Numbers/message.eml && echo same
          grep -c '\\[zebra\\]' docs.search/zebra/RESULTS.txt; head -1 docs.search/zebra/RESULTS.tsv
          python3 -c 'import json, sys; print(len(json.load(sys.stdin)))' < docs.search/zebra/RESULTS.json
          ls .search/another; ls docs/saved.ffsearch.results | grep -c zebra; ls docs/saved.ffsearch.results | wc -l
          ls docs.search; stat -c '%a %U' docs.search docs.search/zebra/RESULTS.txt | sort -u | wc -l
          ls -A docs.search/size:big; getfattr --only-values -n user.ffmount.error docs.search/size:big
          """, mount.mountpoint)
        let lines = said.lines.map { String($0) }
        #expect(
          lines == [
            "Anna - Numbers", "note.txt", "saved.ffsearch", "x.txt", "same", "same", "same", "4",
            "rank\\tpath\\tkind\\tdate\\tsize\\ttitle\\tsnippet".replacing("\\t", with: "\t"), "4",
            lines.first { $0.hasSuffix("other.txt") } ?? "", "RESULTS.json", "RESULTS.tsv", "RESULTS.txt", "0", "7",
            "zebra",
            "2", lines.last ?? "",
          ], "\(said.text)\(said.errors)")
        #expect(lines.last?.contains("needs a size") ?? false, "\(said.text)\(said.errors)")
      }
    }
  }

  /// A search folder never starts by the names that programs look up everywhere.
  @Test func searchesAreListedByNameOnly() async throws {
    try await withTree { scratch, environment in
      try await withMount(scratch, environment: environment) { mount in
        let said = try await shell(
          "cd \"$1\"; ls -A . docs | grep -c search$; ls -d docs.search/.hidden docs.search/desktop.ini 2>&1 | wc -l; ls docs.search",
          mount.mountpoint)
        #expect(said.text == "1\n2\n" || said.text == "0\n2\n", "\(said.text)\(said.errors)")
      }
    }
  }

  @Test func indexingContinuesAfterKill() async throws {
    try await withScratch { scratch in
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      for number in 0..<400 { try scratch.write("d\(number % 9)/f\(number).txt", "needle number\(number)") }
      try scratch.write("in.mbox", (0..<2000).map { Self.mail("m\($0)", "needle text\($0)") }.joined())
      for delay in [0.1, 0.3, 0.6] {
        let child = try MountChild(
          [MountProcess.binary, "index", "--search", scratch.source], environment: environment)
        try await Task.sleep(for: .seconds(delay))
        child.killNow()
      }
      let found = try await MountChild(
        [MountProcess.binary, "search", "-l", scratch.source, "needle"], environment: environment
      ).wait(atMost: 100)
      #expect(found.lines.count == 2400, "\(found.errors)")
      #expect(Set(found.lines).count == 2400)
    }
  }

  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func searchesAreOfTheMountsUserOnly() async throws {
    try await withTree { scratch, environment in
      try await withMount(scratch, options: ["-o", "allow_other"], environment: environment) { mount in
        let said = try await shell(
          """
          cd "$1"; chmod 755 "$2" .; ls docs.search/zebra | wc -l
          other="setpriv --reuid=65534 --regid=65534 --clear-groups"
          for name in docs.search docs.search/zebra docs.search/quick docs/saved.ffsearch.results .search/zebra; do
            $other ls "$name" 2>/dev/null | wc -l; done
          $other cat docs.search/zebra/RESULTS.txt 2>/dev/null | wc -c; $other cat docs/note.txt
          """, mount.mountpoint, scratch.path)
        #expect(said.text == "7\n0\n0\n0\n0\n0\n0\nThe quick zebra.\n", "\(said.text)\(said.errors)")
      }
    }
  }
}
