import TestSupport
import Testing

/// Recognised text through a mount, made by ffscan from the pages of Tests/Scripts/make_scans.py.
@Suite(
  .serialized, .timeLimit(.minutes(3)),
  .enabled(if: RecognitionTests.hasLanguages, "needs tesseract-ocr-eng, -deu and -osd"))
struct RecognitionTests {
  private static let hasLanguages = ["eng", "deu", "osd"].allSatisfy {
    MountScratch.exists("/usr/share/tesseract-ocr/5/tessdata/\($0).traineddata")
  }

  private func withScans(_ body: (MountProcess, MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      try await script("make_scans.py", scratch.source)
      try await withConverter(scratch, "workers=2,ocr=eng") { mount in try await body(mount, scratch) }
    }
  }

  private static let letter = """
    The library of the harbour town was open only on
    Tuesdays. On every other day its keeper walked along the
    quay with a heavy bunch of keys: nobody asks for books
    when the herring are running, she used to say.

    """
  private static let german = """
    Die Bücherei öffnete nur dienstags. An allen übrigen
    Tagen ging die Hüterin mit einem schweren Bund am Kai
    spazieren: Wer fragt schon nach Büchern, sagte sie gern,
    wenn draußen die Heringe vorüberziehen?

    """

  @Test func picturesOfPagesBecomeText() async throws {
    try await withScans { mount, scratch in
      // Clean; shaded, grainy, blurred and askew; on its side; two pages in two languages.
      let lines = """
        cat letter.png.as-txt worn.jpg.as-txt side.jpg.as-txt two.tif.deu+eng.as-txt
        cat letter.png.jpn+deu.as-txt
        getfattr --only-values -n user.ffmount.error letter.png.jpn+deu.as-txt; echo
        ls letter.png.xyz.as-txt letter.png.eng+eng.as-txt
        """
      let letter = Self.letter + "\u{C}"
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == letter + letter + letter + letter + Self.german + """
          \u{C}cat: letter.png.jpn+deu.as-txt: Input/output error
          letter.png: needs the recognition of Japanese, which is not installed (apt install tesseract-ocr-jpn)
          ls: cannot access 'letter.png.xyz.as-txt': No such file or directory
          ls: cannot access 'letter.png.eng+eng.as-txt': No such file or directory

          """)
      // Pages of a PDF that have text give their own.
      let mixed = try await mount.shell("cat mixed.pdf.as-txt", scratch).split(separator: "\u{C}").map(String.init)
      #expect(mixed == ["This page has words of its own\n\n", Self.letter, Self.letter])
    }
  }

  @Test func wordsAreToldWithTheirPlaces() async throws {
    try await withScans { mount, scratch in
      let lines = """
        python3 - letter.png.as-hocr letter.png.as-tsv side.jpg.as-tsv "$S/../words.json" <<'END'
        import json, re, sys, xml.etree.ElementTree
        hocr, table, side, known = (open(name).read() for name in sys.argv[1:])
        known = json.loads(known)
        words = [span for span in xml.etree.ElementTree.fromstring(hocr).iter() if span.get("class") == "ocrx_word"]
        boxes = [list(map(int, re.match(r"bbox (\\d+) (\\d+) (\\d+) (\\d+); x_wconf \\d+$", word.get("title")).groups())) for word in words]
        def off(found, name, width, height):
            places = [(text, x * width, y * height) for text, x, y in known[name][0]]
            return len(found) - len(places), sum(a != b or not (l - 4 <= x <= r + 4 and t - 4 <= y <= d + 4) for (a, l, t, r, d), (b, x, y) in zip(found, places))
        print(*off([(word.text, *box) for word, box in zip(words, boxes)], "letter.png", 1200, 720))
        for table, name, size in ((table, "letter.png", (1200, 720)), (side, "side.jpg", (720, 1200))):
            rows = [row.split("\\t") for row in table.splitlines()[1:]]
            print([row[6:10] for row in rows if row[0] == "1"])
            rows = [(row[11], *map(int, row[6:10])) for row in rows if row[0] == "5"]
            print(*off([(text, x, y, x + w, y + h) for text, x, y, w, h in rows], name, *size))
        END
        """
      #expect(
        try await mount.shell(lines, scratch) == """
          0 0
          [['0', '0', '1200', '720']]
          0 0
          [['0', '0', '720', '1200']]
          0 0

          """)
    }
  }

  @Test func searchableDocumentsKeepEveryByte() async throws {
    try await withScans { mount, scratch in
      let lines = """
        places() { python3 $T/check_places.py $S/../words.json $1 $1.searchable.pdf; }
        for name in letter.png worn.jpg side.jpg mixed.pdf packed.pdf; do
          echo $name; places $name; qpdf --check $name.searchable.pdf > $O/check || cat $O/check
        done
        # A document's own bytes, with text behind them that is not to be seen.
        for name in mixed packed; do cmp -n $(stat -c %s $S/$name.pdf) $name.pdf $name.pdf.searchable.pdf; done
        look() { pdftoppm -r 40 -gray $1 | md5sum; }
        [ "$(look mixed.pdf)" = "$(look mixed.pdf.searchable.pdf)" ] && echo looks the same
        # A picture is in it as it was.
        pdfimages -all side.jpg.searchable.pdf $O/side && cmp $O/side-000.jpg side.jpg && echo the picture itself
        cmp words.pdf words.pdf.searchable.pdf && getfattr --only-values -n user.ffmount.error words.pdf.searchable.pdf
        echo; stat -c %s words.pdf.searchable.pdf letter.png.searchable.pdf | head -n 1
        """
      #expect(
        try await mount.shell(lines, scratch) == """
          letter.png
          page 1: 39 of 39
          worn.jpg
          page 1: 39 of 39
          side.jpg
          page 1: 39 of 39
          mixed.pdf
          page 1: 0 of 0
          page 2: 39 of 39
          page 3: 39 of 39
          packed.pdf
          page 1: 39 of 39
          looks the same
          the picture itself
          words.pdf: is not changed: no page of it has text that is to be recognised
          738

          """)
    }
  }

  @Test func protectedDocumentsStayProtected() async throws {
    try await withScratch { scratch in
      try await script("make_scans.py", scratch.source)
      let passwords = scratch.path + "/passwords"
      try await shell("echo owner > $1; chmod 600 $1", passwords)
      try await withConverter(scratch, "ocr=eng,password_file=\(passwords)") { mount in
        let lines = """
          for name in locked40 locked256; do
            cp $name.pdf.searchable.pdf $O
            python3 $T/check_places.py $S/../words.json scan.pdf $O/$name.pdf.searchable.pdf reader
            qpdf --password=reader --check $O/$name.pdf.searchable.pdf | grep -e password -e errors
            pdftotext $O/$name.pdf.searchable.pdf 2>&1
          done
          """
        let each = """
          page 1: 39 of 39
          Supplied password is user password
          No syntax or stream encoding errors found; the file may still contain
          errors that qpdf cannot detect
          Command Line Error: Incorrect password

          """
        #expect(try await mount.shell(lines, scratch) == each + each)
      }
      // The same again from nothing has the same bytes.
      try await shell("rm -rf $1/cache", scratch.path)
      try await withConverter(scratch, "ocr=eng,password_file=\(passwords)") { mount in
        let lines = "cmp locked256.pdf.searchable.pdf $O/locked256.pdf.searchable.pdf && echo the same"
        #expect(try await mount.shell(lines, scratch) == "the same\n")
      }
    }
  }
}
