import Foundation
import Glibc
import TestSupport
import Testing

/// `FOLDER.search/QUERY/`, `NAME.ffsearch.results/` and `ffmount search FOLDER`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FindTests {
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

  /// Texts as other systems, programs and decades left them.
  @Test func wordsOfOddTextsAreFound() async throws {
    try await withScratch { scratch in
      let make = #"""
        cd "$1"; printf '{"text":"hello\\nnextline\\ttabbed \\"quoted\\" \\u00fcber"}' > chat.json
        printf 'the last \xfc' > short.txt; printf 'dos text\r\n\x1a' > dos.txt; printf 'a\x07bell and\x0bmore' > bell.txt
        printf '<svg xmlns="http://www.w3.org/2000/svg"><text>drawn</text></svg>' > drawing.svg
        printf 'h' > 'a#b?c.txt'; mkdir plain; printf 'apple zebrafoo' > plain/a.txt
        printf 'From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\nboxed\n\n' > in.mbox
        """#
      let made = try await shell(make, scratch.source)
      try #require(made.status == 0, "\(made.errors)")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      func names(_ query: String) async throws -> [String] {
        let words = [MountProcess.binary, "search", "-l", scratch.source, query]
        let found = try await MountChild(words, environment: environment).wait(atMost: 60)
        return found.lines.map { String($0.dropFirst(scratch.source.utf8.count + 1)) }
      }
      for (query, name) in [
        ("nextline", "chat.json"), ("tabbed", "chat.json"), ("quoted", "chat.json"), ("über", "chat.json"),
        ("last", "short.txt"), ("dos", "dos.txt"), ("bell", "bell.txt"), ("drawn", "drawing.svg"),
        ("zebrafoo /apple/", "plain/a.txt"), ("in:dos.txt text", "dos.txt"),
      ] {
        let found = try await names(query)
        #expect(found == [name], "\(query)")
      }
      let odd = try await shell(
        "cd \"$1\" && printf oddly > \"$(printf 'inv\\377id.txt')\" && \"$2\" search --json . oddly", scratch.source,
        MountProcess.binary)
      #expect(odd.text.contains("\"encodedPath\": \"./inv%FFid.txt\""), "\(odd.text)\(odd.errors)")
      // Neither the folders of a path match an expression, nor is a mailbox outside itself.
      let (outside, inside) = (try await names("zebrafoo /plain/"), try await names("in:in.mbox boxed"))
      #expect(outside.isEmpty && inside.count == 1, "\(outside) \(inside)")
    }
  }

  /// The index outlives the mount that knew the password, and other users search the mount.
  @Test func textsBehindPasswordsAreInNoIndex() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1"; echo secretword > secret.txt; zip -qP hunter2 source/locked.zip secret.txt
        printf '%s\\n' '%PDF-1.4' '1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj' \\
          '2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj' \\
          '3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj' \\
          '4 0 obj <</Length 38>> stream' 'BT /F 20 Tf 9 9 Td (paperword) Tj ET  ' 'endstream endobj' \\
          '5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj' 'trailer <</Root 1 0 R>>' > open.pdf
        qpdf --warning-exit-0 --encrypt hunter2 owner 256 -- open.pdf source/locked.pdf
        echo hunter2 > password; chmod 600 password
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let options = ["-o", "password_file=\(scratch.path)/password"]
      try await withMount(scratch, options: options, environment: environment) { mount in
        let script = """
          cat "$1/locked.zip.contents/secret.txt"; grep -c paperword "$1/locked.pdf.as-txt"
          ls "$1/.search/secretword OR paperword"; ls "$1/.search/name:secret" | wc -l
          grep -A2 locked: "$1/.search/secretword/RESULTS.txt" | sort
          getfattr --only-values -n user.ffmount.locked "$1/.search/secretword"
          """
        let said = try await shell(script, mount.mountpoint)
        #expect(
          said.text == "secretword\n1\nRESULTS.json\nRESULTS.tsv\nRESULTS.txt\n4\n"
            + "    locked.pdf\n    locked.zip.contents/secret.txt\n2 files are locked: found by name only\n2",
          "\(said.text)")
      }
      let search = [MountProcess.binary, "search", scratch.source]
      for word in ["secretword", "secretwor", "paperword"] {
        let found = try await MountChild(search + [word], environment: environment).wait(atMost: 60)
        #expect(found.status == 1 && !found.errors.contains("did you mean"), "\(found.text)\(found.errors)")
        #expect(found.errors.contains("2 files are locked: found by name only"), "\(found.errors)")
      }
      for query in ["x -sort:date", "x OR sort:date"] {
        let found = try await MountChild(search + [query], environment: environment).wait(atMost: 60)
        #expect(found.status == 64 && found.errors.contains("'sort:' cannot be negated"), "\(found.errors)")
      }
    }
  }

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
      #expect(bad.status == 64 && bad.errors.contains("needs a size"), "\(bad.errors)")
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

  /// Indexing for a search ends, with the conversion in progress, when the only process that waits for it is killed.
  @Test func indexingEndsWithItsLastReader() async throws {
    try await withScratch { scratch in
      try scratch.write("slow.pdf", "hang")
      try scratch.write("note.txt", "zebra")
      try await withMount(scratch, options: ["-o", "converter=\(RenditionTests.worker)"]) { mount in
        let said = try await mount.shell(
          """
          working() { list | grep -c indexing; }
          timeout 40 ls .search/zebra > /dev/null & p=$!
          for i in $(seq 100); do [ "$(working)" = 0 ] || break; sleep .1; done; working
          kill $p; wait $p; echo $?
          for i in $(seq 300); do [ "$(working)" = 1 ] || break; sleep .1; done; working
          """, scratch)
        // Longer than ten seconds, a reader is answered, and indexing goes on.
        #expect(said == "1\n124\n0\n" || said == "1\n143\n0\n", "\(said)")
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
      // A part that cannot be read is told.
      try scratch.write("odd.zip", ZipFixture(ZipFixtureEntry("a.txt", "needle").with { $0.claimedCRC = 1 }))
      for says in ["1 file or folder could not be read completely", ""] {
        let said = try await MountChild(
          [MountProcess.binary, "index", "--search", scratch.source], environment: environment
        ).wait(atMost: 100)
        #expect(said.status == 0 && said.errors.contains("could not be read") == !says.isEmpty, "\(said.errors)")
        #expect(says.isEmpty || said.errors.contains(says), "\(said.errors)")
      }
    }
  }

  /// Of what the user may not read, each search says that words in it are not found.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func unreadableFilesAreTold() async throws {
    try await withScratch { scratch in
      for name in ["a.txt", "private.txt", "private/c.txt"] { try scratch.write(name, "zebra") }
      let lines = """
        cd "$1"; chmod -R a+rX .; chmod 600 source/private.txt; chmod 700 source/private; cp "$2" .; mkdir -m 777 cache
        as() { setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_CACHE_HOME="$1/cache" -- "${@:2}" 2>&1; }
        as "$1" ./ffmount --version > /dev/null || exit 90
        for _ in 1 2; do as "$1" ./ffmount search -l source zebra; done; as "$1" ./ffmount search -l source/a.txt zebra
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary)
      if said.status == 90 { try Test.cancel("another user may not run this: \(said.text)") }
      let told = """
        ffmount: source: 2 files or folders could not be read completely: found by name only (to see why: \
        ffmount verify source)
        """
      #expect(said.lines == ["source/a.txt", told, "source/a.txt", told, "source/a.txt"], "\(said.text)\(said.errors)")
    }
  }

  /// Example of Semantics.md.
  @Test(
    .enabled(
      if: ["ffmpeg", "exiftool", "qpdf"].allSatisfy { MountScratch.has($0) }, "needs ffmpeg, exiftool and qpdf"))
  func sheetsTagsAndSubtitlesAreFound() async throws {
    try await withScratch { scratch in
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let made = try await shell(
        """
        cd "$1"; q="ffmpeg -nostdin -loglevel error -y"
        python3 - <<'END'
        import zipfile
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        with zipfile.ZipFile("book.xlsx", "w") as z:
            z.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
                '</Types>')
            z.writestr("_rels/.rels", '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                f'<Relationship Id="r" Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
            z.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets>'
                '<sheet name="May" sheetId="1" r:id="a"/><sheet name="June" sheetId="2" r:id="b"/></sheets></workbook>')
            z.writestr("xl/_rels/workbook.xml.rels", '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                + "".join(f'<Relationship Id="{i}" Type="{rel}/worksheet" Target="{i}.xml"/>' for i in "ab") + '</Relationships>')
            for name, word in (("a", "zebra"), ("b", "okapi")):
                z.writestr(f"xl/{name}.xml", f'<worksheet xmlns="{main}"><sheetData><row r="1"><c r="A1" t="inlineStr">'
                    f'<is><t>{word} 4711</t></is></c></row></sheetData></worksheet>')
        END
        $q -f lavfi -i sine=d=0.2 -metadata title='Walrus Song' -metadata artist='The Tusks' -metadata comment=arctic song.mp3
        printf '1\\n00:00:01,000 --> 00:00:02,000\\nhello manatee\\n\\n2\\n00:00:14,000 --> 00:00:15,000\\nbye dugong\\n' > t.srt
        $q -f lavfi -i testsrc=d=16:s=64x64:r=5 -i t.srt -metadata:s:s:0 language=ger -metadata title='Sea Cows' film.mkv
        mv t.srt ../; $q -i film.mkv -sn -map_metadata -1 plain.mp4; cp ../t.srt plain.en.srt
        $q -f lavfi -i testsrc=d=1:s=64x64:r=1 -frames:v 1 photo.jpg
        $q -f lavfi -i testsrc=d=1:s=64x64:r=1 -frames:v 1 drawing.png
        exiftool -q -overwrite_original -PNG:Title='Quokka Drawing' -PNG:Comment='numbat für alle' \
          -PNG:Source=bilby drawing.png
        exiftool -q -overwrite_original -IPTC:Caption-Abstract='a gnu in the pan' -XMP:City=Okaukuejo -XMP:Subject=savanna \\
          -EXIF:Model='Camera 3000' -EXIF:DateTimeOriginal='2019:05:03 12:34:56' -EXIF:UserComment='wildebeest réserve' photo.jpg
        qpdf --empty p.pdf
        exiftool -q -overwrite_original -Title='Aardvark Report' -Author='Orla Ant' p.pdf
        printf '%%PDF-1.4\\n1 0 obj<</Type/Catalog/Pages 2 0 R/Lang(de-CH)>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>' > lang.pdf
        """, scratch.source)
      #expect(made.errors == "", "\(made.errors)")
      func paths(_ query: String) async throws -> [String] {
        let found = try await MountChild(
          [MountProcess.binary, "search", "-l", scratch.source] + query.split(separator: " ").map { String($0) },
          environment: environment
        ).wait(atMost: 100)
        return found.lines.map { String($0.dropFirst(scratch.source.utf8.count + 1)) }.sorted()
      }
      for (query, expected) in [
        ("zebra", ["book.xlsx.sheets/May.csv"]), ("okapi 4711", ["book.xlsx.sheets/June.csv"]),
        ("zebra okapi", ["book.xlsx"]), ("name:june", ["book.xlsx.sheets/June.csv"]),
        ("walrus arctic", ["song.mp3"]), ("tusks kind:sound", ["song.mp3"]), ("title:walrus", ["song.mp3"]),
        ("manatee", ["film.mkv.1s-2s.as.mp4", "plain.mp4.1s-2s.as.mp4"]),
        ("dugong lang:de", ["film.mkv.14s-15s.as.mp4"]), ("dugong lang:en", ["plain.mp4.14s-15s.as.mp4"]),
        ("cows", ["film.mkv"]), ("gnu okaukuejo", ["photo.jpg"]), ("savanna date:2019-05-03", ["photo.jpg"]),
        ("title:quokka", ["drawing.png"]), ("numbat fur bilby kind:image", ["drawing.png"]),
        ("\"camera 3000\"", ["photo.jpg"]), ("wildebeest reserve", ["photo.jpg"]), ("aardvark", ["p.pdf"]),
        ("orla kind:document", ["p.pdf"]),
      ] {
        #expect(try await paths(query) == expected, "\(query)")
      }
      try await withMount(scratch, environment: environment) { mount in
        let said = try await shell(
          """
          cd "$1"; cat .search/okapi/*June.csv; cat photo.jpg.tags.txt drawing.png.tags.txt; head -2 song.mp3.tags.txt
          cat {p,lang}.pdf.tags.txt
          ffprobe -v error -show_entries format=duration -of csv=p=0 .search/dugong\\ lang:de/001*.mp4 | cut -c1
          grep -c '\\[manatee\\]' .search/manatee/RESULTS.txt; sed -n 3,4p .search/dugong\\ lang:de/RESULTS.txt | tail -1
          """, mount.mountpoint)
        let lines = said.lines.map { String($0) }
        #expect(lines.first == "okapi 4711" && lines.contains("description: a gnu in the pan"), "\(said.text)")
        #expect(
          [
            "place: Okaukuejo", "keywords: savanna", "camera: Camera 3000", "date: 2019-05-03 12:34:56",
            "title: Quokka Drawing", "description: numbat für alle", "source: bilby", "title: Walrus Song",
            "artist: The Tusks", "title: Aardvark Report", "author: Orla Ant", "language: de-CH",
          ].allSatisfy { lines.contains($0) }, "\(said.text)\(said.errors)")
        #expect(Array(lines.suffix(3).prefix(2)) == ["1", "2"], "\(said.text)\(said.errors)")
        #expect(lines.last?.hasSuffix("film.mkv at 0:14") ?? false, "\(said.text)")
      }
    }
  }

  /// Example of Semantics.md.
  @Test func searchWorksWithoutAUsableCacheFolder() async throws {
    try await withTree { scratch, _ in
      for cache in ["/proc/1/absent", "/dev/full"] {
        let found = try await MountChild(
          [MountProcess.binary, "search", "-l", scratch.source + "/docs", "zebra"],
          environment: ["XDG_CACHE_HOME": cache, "HOME": "/proc/1/absent"]
        ).wait(atMost: 60)
        #expect(found.status == 0 && found.lines.count == 4, "\(found.text)\(found.errors)")
        let none = try await MountChild(
          [MountProcess.binary, "search", scratch.source + "/docs", "zebrra"],
          environment: ["XDG_CACHE_HOME": cache, "HOME": "/proc/1/absent"]
        ).wait(atMost: 60)
        #expect(none.status == 1 && none.errors.contains("did you mean zebra"), "\(none.errors)")
        try await withMount(scratch, environment: ["XDG_CACHE_HOME": cache, "HOME": "/proc/1/absent"]) { mount in
          let said = try await shell("ls \"$1/docs.search/zebra\" | wc -l", mount.mountpoint)
          #expect(said.text == "7\n", "\(said.errors)")
        }
      }
    }
  }

  /// Scripts read a list by its name, without a listing.
  @Test func listsAreCurrentWithoutAListing() async throws {
    try await withTree { scratch, environment in
      try await withMount(scratch, environment: environment) { mount in
        let lines = """
          cat "$1/docs.search/zebra/RESULTS.txt" | head -1
          printf 'one more zebra' > "$2/docs/later.txt"
          for i in $(seq 100); do
            sleep .2; n=$(head -1 "$1/docs.search/zebra/RESULTS.txt"); [ "$n" = "4 results" ] || break
          done
          echo "$n"; grep -c later.txt "$1/docs.search/zebra/RESULTS.tsv"
          """
        let said = try await shell(lines, mount.mountpoint, scratch.source)
        #expect(said.text == "4 results\n5 results\n1\n", "\(said.text)\(said.errors)")
      }
    }
  }

  /// Without room for an index, the results are complete, or the reason why they are not is told.
  @Test(.enabled(if: geteuid() == 0, "needs a file system of its own")) func fullDiskIsTold() async throws {
    try await withTree { scratch, environment in
      let words = (0..<200_000).map { String($0 &* 2_654_435_761 % 1_000_000_007, radix: 36) }
      try scratch.write("docs/long.txt", words.joined(separator: " "))
      let cache = scratch.path + "/cache"
      let made = try await shell("mkdir \"$1\"; mount -t tmpfs -o size=160k,mode=700 tmpfs \"$1\"", cache)
      guard made.status == 0 else { try Test.cancel("no tmpfs: \(made.errors)") }
      let reason = "the index cannot be written in the cache folder"
      try await withMount(scratch, environment: environment) { mount in
        let said = try await shell("cat \"$1/docs.search/zebra/RESULTS.txt\"", mount.mountpoint)
        #expect(said.text.hasPrefix("4 results") || said.text.contains("\nIncomplete: \(reason)"), "\(said.text)")
      }
      let found = try await MountChild(
        [MountProcess.binary, "search", scratch.source, "zebra"], environment: environment
      ).wait(atMost: 60)
      #expect(
        found.status == 0 && found.lines.count == 5 || found.status == 2 && found.errors.contains(reason),
        "\(found.text)\(found.errors)")
      let freed = try await shell("umount -l \"$1\"", cache)
      #expect(freed.status == 0, "\(freed.errors)")
    }
  }

  /// Example of Semantics.md.
  @Test func viewsOfAnotherMountAreNotRepeated() async throws {
    try await withTree { scratch, environment in
      try await withMount(scratch, environment: environment) { mount in
        let found = try await MountChild(
          [MountProcess.binary, "search", "-l", mount.mountpoint, "zebra"], environment: environment
        ).wait(atMost: 60)
        let zebras = (Self.zebras + ["other.txt"]).map { "\(mount.mountpoint)/\($0)" }
        #expect(found.lines.map { String($0) }.sorted() == zebras, "\(found.text)\(found.errors)")
      }
    }
  }

  /// The root of a mount of one file has searches of what is in it.
  @Test func mountsOfOneFileAreSearched() async throws {
    try await withTree { scratch, environment in
      for (file, path) in [
        ("docs/outer.zip", "inner.zip.contents/deep/x.txt"), ("docs/in.mbox", "000001 2024-03-01 Anna - Numbers"),
      ] {
        let said = try await withMount(
          "\(scratch.source)/\(file)", at: scratch.mountpoint, environment: environment
        ) { mount in
          try await shell(
            """
            cd "$1"; sed -n 3p .search/zebra/RESULTS.txt; ls .search/zebra | wc -l; ls -A | grep -c search
            cat .search/zebra/0*x.txt
            """, mount.mountpoint)
        }
        #expect(said.text.hasPrefix("1  \(path)\n4\n0\n"), "\(said.text)\(said.errors)")
      }
    }
  }

  /// Each user finds only what he may read at that moment: no counts, lists, suggestions or snippets of other files.
  @Test(
    .enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"),
    arguments: [false, true])
  func searchesAreOfWhatTheUserMayRead(isSupervised: Bool) async throws {
    try await withTree { scratch, environment in
      try scratch.write("docs/secret/plan.txt", "the zebra conspiracy, rhinozeros")
      try scratch.write("docs/own.txt", "private zebra of one user, hippopotamus")
      try scratch.write("docs/group.txt", "group zebra")
      // Public files in a folder that others cannot list, and in one that they cannot search.
      try scratch.write("docs/passed/pass.txt", "zebra")
      try scratch.write("docs/seen/seen.txt", "zebra")
      try await withMount(
        scratch, options: ["-o", "allow_other"], environment: environment, isSupervised: isSupervised
      ) { mount in
        let said = try await shell(
          """
          cd "$1"; chmod 755 "$2" "$2/source"; cd docs
          (cd "$3/docs"; zip -qjP pass secret/own.zip secret/plan.txt; zip -qjP pass all.zip group.txt; chmod 644 all.zip)
          chmod 700 "$3/docs/secret"; chmod 711 "$3/docs/passed"; chmod 744 "$3/docs/seen"; chown 65534 "$3/docs/own.txt"; chmod 600 "$3/docs/own.txt"
          chgrp 4242 "$3/docs/group.txt"; chmod 640 "$3/docs/group.txt"
          nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
          daemon="setpriv --reuid=1 --regid=1 --groups=4242"
          names() { grep -v RESULTS | sed 's/^[0-9]* [0-9-]* //' | sort | tr '\\n' ' '; echo; }
          ls ../docs.search/zebra | names; $nobody ls ../docs.search/zebra | names; $daemon ls ../docs.search/zebra | names
          ls ../docs.search/zebra | names
          for who in "" "$nobody" "$daemon"; do
            $who head -1 ../docs.search/zebra/RESULTS.txt; $who grep -c conspiracy ../docs.search/zebra/RESULTS.json
            $who getfattr --only-values -n user.ffmount.results ../docs.search/zebra; echo; done
          # Suggestions come from readable documents.
          $nobody head -2 ../docs.search/hippopotamos/RESULTS.txt | grep Did; $daemon head -2 ../docs.search/hippopotamos/RESULTS.txt
          $daemon head -2 ../docs.search/rhinozeroz/RESULTS.txt; head -2 ../docs.search/rhinozeroz/RESULTS.txt | grep Did
          # Each has queries of his own, and files of his own.
          $nobody ls ../docs.search | tr '\\n' ' '; echo; ls ../docs.search | tr '\\n' ' '; echo
          $nobody cat ../docs.search/private/*own.txt; echo; $daemon ls ../docs.search/private | names
          # A right that is withdrawn ends at once.
          chmod 600 "$3/docs/group.txt"; $daemon ls ../docs.search/zebra | names
          $daemon grep -c '  group.txt' ../docs.search/zebra/RESULTS.txt
          # A folder that cannot be listed has no searches.
          $nobody ls secret.search/zebra 2>&1 | grep -c denied; $nobody ls saved.ffsearch.results | names
          # Locked files that a user may not read are not counted.
          for who in "" "$nobody"; do
            $who grep -A2 locked: ../docs.search/zebra/RESULTS.txt | head -3 | sort | tr -d '\n'; echo
            $who getfattr --only-values -n user.ffmount.locked ../docs.search/zebra; echo; done
          """, mount.mountpoint, scratch.path, scratch.source)
        let all = "Anna - Numbers group.txt note.txt own.txt pass.txt plan.txt saved.ffsearch seen.txt x.txt "
        let expected = [
          all, "Anna - Numbers note.txt own.txt saved.ffsearch x.txt ",
          "Anna - Numbers group.txt note.txt saved.ffsearch x.txt ", all, "9 results", "1", "9", "5 results", "0", "5",
          "5 results", "0", "5", "Did you mean hippopotamus?", "0 results", "1 file is locked: found by name only",
          "0 results",
          "1 file is locked: found by name only", "Did you mean rhinozeros?", "zebra ", "zebra ",
          "private zebra of one user, hippopotamus", "",
          "Anna - Numbers note.txt saved.ffsearch x.txt ", "0", "1",
          "Anna - Numbers note.txt own.txt saved.ffsearch x.txt ",
          "    all.zip.contents/group.txt    secret/own.zip.contents/plan.txt2 files are locked: found by name only",
          "2",
          "    all.zip.contents/group.txt1 file is locked: found by name only", "1",
        ]
        #expect(
          said.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { String($0) } == expected,
          "\(said.text)\(said.errors)")
      }
    }
  }
}
