import TestSupport
import Testing

private let hasLanguages = ["eng", "deu", "osd"].allSatisfy {
  MountScratch.exists("/usr/share/tesseract-ocr/5/tessdata/\($0).traineddata")
}

/// Recognised text through a mount, made by ffscan from the pages of Tests/Scripts/make_scans.py.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: hasLanguages, "needs tesseract-ocr-eng, -deu and -osd"))
struct RecognitionTests {
  private func withScans(_ body: (MountProcess, MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      try await script("make_scans.py", scratch.source)
      try await withConverter(scratch, "workers=2,ocr=eng") { mount in try await body(mount, scratch) }
    }
  }

  private static let letter = """
    The library of the harbour town was open only on
    Tuesdays. On every other day its keeper walked along the
    quay with a heavy bunch of keys to the nearest inn.

    """
  private static let german = """
    Die Bücherei öffnete nur dienstags. An allen übrigen
    Tagen ging die Hüterin mit einem schweren Bund am Kai
    spazieren, wenn draußen die Heringe vorüberziehen.

    """

  /// A language whose data are not installed.
  private static func missingLanguage() throws -> (code: String, name: String) {
    let languages = [
      ("jpn", "Japanese"), ("tha", "Thai"), ("kor", "Korean"), ("vie", "Vietnamese"), ("tur", "Turkish"),
    ]
    let missing = languages.first { !MountScratch.exists("/usr/share/tesseract-ocr/5/tessdata/\($0.0).traineddata") }
    guard let missing else { try Test.cancel("all languages are installed") }
    return missing
  }

  @Test func missingRecognitionLanguageIsNamed() async throws {
    let missing = try Self.missingLanguage()
    try await withScans { mount, scratch in
      let lines = """
        cat worn.jpg.\(missing.code)+deu.as-txt
        getfattr --only-values -n user.ffmount.error worn.jpg.\(missing.code)+deu.as-txt; echo
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          cat: worn.jpg.\(missing.code)+deu.as-txt: Input/output error
          worn.jpg: needs the recognition of \(missing.name), which is not installed (apt install tesseract-ocr-\(missing.code))

          """)
    }
  }

  @Test func pagesThatShowNothingAreNotRecognized() async throws {
    let missing = try Self.missingLanguage()
    try await withScans { mount, scratch in
      let lines = """
        grep . empty.pdf.\(missing.code).as-txt | tr '\\f' '|'
        getfattr --only-values -n user.ffmount.error empty.pdf.\(missing.code).as-txt
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          |Behind an empty page
          |
          empty.pdf.\(missing.code).as-txt: user.ffmount.error: No such attribute

          """)
    }
  }

  /// The text of a page is recognized once for all views of the document.
  @Test func recognizedPagesAreSharedByViews() async throws {
    try await withScratch { scratch in
      try await script("make_scans.py", scratch.source)
      let made = try await shell(
        """
        cd "$1"; "$2" - <<'END'
        from PIL import Image
        pages = [Image.open("worn.jpg").convert("L").rotate(turn) for turn in (0, 1, 2)]
        pages[0].save("three.tif", save_all=True, append_images=pages[1:])
        END
        """, scratch.source, MountScratch.python)
      #expect(made.errors == "")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      try await withMount(scratch, options: ["-o", "ocr=eng"], environment: environment) { mount in
        let said = try await shell(
          """
          cd "$1"; kept() { find "$2/cache/ffmount/renditions" -type f | wc -l; }
          cat three.tif.as-jpeg > /dev/null; a=$(kept x "$2")
          tr -cd '\\f' < three.tif.as-txt | wc -c; b=$(kept x "$2"); echo $((b - a))
          grep -c ocr_page three.tif.as-hocr; c=$(kept x "$2"); echo $((c - b)); grep -c . three.tif.as-tsv > "$2/tsv"
          cat three.tif.searchable.pdf > "$2/s.pdf"; pdfinfo "$2/s.pdf" | grep -c 'Pages: *3'
          d=$(kept x "$2"); echo $((d - c))
          """, mount.mountpoint, scratch.path)
        // The text, the list of the pages' texts and three pages; then only the other results.
        #expect(said.text == "3\n5\n4\n1\n1\n2\n", "\(said.text)\(said.errors)")
      }
    }
  }

  @Test func picturesOfPagesAreRecognizedAsText() async throws {
    try await withScans { mount, scratch in
      // Shaded, grainy, blurred and askew; two pages in two languages. What is a paragraph is guessed.
      let lines = """
        cat worn.jpg.as-txt dim.jpg.as-txt two.tif.deu+eng.as-txt | grep .
        ls worn.jpg.xyz.as-txt worn.jpg.eng+eng.as-txt
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == Self.letter + "\u{C}" + Self.letter + "\u{C}" + Self.letter + "\u{C}" + Self.german + """
          \u{C}
          ls: cannot access 'worn.jpg.xyz.as-txt': No such file or directory
          ls: cannot access 'worn.jpg.eng+eng.as-txt': No such file or directory

          """)
      // Pages of a PDF that have text give their own.
      let mixed = try await mount.shell("grep . mixed.pdf.as-txt", scratch)
      #expect(
        mixed == "This page has words of its own\n\u{C}" + Self.letter + "\u{C}" + Self.letter + "\u{C}\n")
    }
  }

  @Test func recognizedWordsHaveTheirPositions() async throws {
    try await withScans { mount, scratch in
      // Each box has the middle of its word in it, on an upright page and on one that lies on its side.
      let lines = """
        python3 - letter.png.as-hocr side.jpg.as-tsv "$S/../words.json" <<'END'
        import json, re, sys, xml.etree.ElementTree
        hocr, table, known = (open(name).read() for name in sys.argv[1:])
        known = json.loads(known)
        def compare(found, name, width, height):
            places = known[name][0]
            right = sum(
                word == told and left <= x * width <= right and top <= y * height <= bottom
                for (told, left, top, right, bottom), (word, x, y) in zip(found, places))
            print(name, len(found), right == len(places))
        words = [span for span in xml.etree.ElementTree.fromstring(hocr).iter() if span.get("class") == "ocrx_word"]
        boxes = [re.match(r"bbox (\\d+) (\\d+) (\\d+) (\\d+); x_wconf \\d+$", word.get("title")).groups() for word in words]
        compare([(word.text, *map(int, box)) for word, box in zip(words, boxes)], "letter.png", 1200, 560)
        rows = [row.split("\\t") for row in table.splitlines()[1:]]
        print([row[6:10] for row in rows if row[0] == "1"])
        boxes = [(row[11], *map(int, row[6:10])) for row in rows if row[0] == "5"]
        compare([(word, x, y, x + w, y + h) for word, x, y, w, h in boxes], "side.jpg", 560, 1200)
        END
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          letter.png 31 True
          [['0', '0', '560', '1200']]
          side.jpg 31 True

          """)
    }
  }

  @Test func searchableDocumentsKeepOriginalBytes() async throws {
    try await withScans { mount, scratch in
      let lines = """
        places() { python3 $T/check_places.py $S/../words.json $1 $1.searchable.pdf; }
        for name in worn.jpg side.jpg mixed.pdf packed.pdf; do
          echo $name; places $name; qpdf --check $name.searchable.pdf > $O/check || cat $O/check
        done
        # A document's own bytes, with text behind them that is not to be seen.
        for name in mixed packed; do cmp -n $(stat -c %s $S/$name.pdf) $name.pdf $name.pdf.searchable.pdf; done
        look() { pdftoppm -r 40 -gray $1 | md5sum; }
        [ "$(look mixed.pdf)" = "$(look mixed.pdf.searchable.pdf)" ] && echo looks the same
        # A picture is in it as it was, packed once more where that saves something.
        pdfimages -all side.jpg.searchable.pdf $O/side && cmp $O/side-000.jpg side.jpg && echo the picture itself
        [ $(stat -c %s side.jpg.searchable.pdf) -lt $(stat -c %s side.jpg) ] && echo and smaller
        grep -ac '/Filter /DCTDecode' worn.jpg.scan.as-pdf
        for name in side.jpg.as-pdf side.jpg.scan.as-pdf; do grep -ac '/FlateDecode /DCTDecode' $name; done
        for name in words forbidden signed field none; do
          cmp $name.pdf $name.pdf.searchable.pdf && getfattr --only-values -n user.ffmount.remark $name.pdf.searchable.pdf
          echo
        done
        stat -c %s words.pdf.searchable.pdf
        pdftotext noted.pdf.searchable.pdf - | grep -c 'library of the harbour'; grep -c 'library of the harbour' noted.pdf.as-txt
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          worn.jpg
          page 1: 31 of 31
          side.jpg
          page 1: 31 of 31
          mixed.pdf
          page 1: 0 of 0
          page 2: 31 of 31
          page 3: 31 of 31
          packed.pdf
          page 1: 31 of 31
          looks the same
          the picture itself
          and smaller
          1
          1
          1
          words.pdf is not changed: none of its pages has text to recognise
          forbidden.pdf is not changed: its owner forbids that
          signed.pdf is not changed: it is signed, and the signature would report the change
          field.pdf is not changed: it is signed, and the signature would report the change
          none.pdf is not changed: it has no pages
          738
          1
          1

          """)
    }
  }

  @Test func protectedDocumentsStayProtected() async throws {
    try await withScratch { scratch in
      try await script("make_scans.py", scratch.source)
      let passwords = scratch.path + "/passwords"
      _ = try await shell("echo owner > $1; chmod 600 $1", passwords)
      try await withConverter(scratch, "ocr=eng,password_file=\(passwords)") { mount in
        let lines = """
          for name in locked40 locked256; do
            cp $name.pdf.searchable.pdf $O
            python3 $T/check_places.py $S/../words.json scan.pdf $O/$name.pdf.searchable.pdf reader
            qpdf --password=reader --check $O/$name.pdf.searchable.pdf | grep -e Supplied -e 'No syntax'
            pdftotext $O/$name.pdf.searchable.pdf 2>&1
          done
          """
        let each = """
          page 1: 31 of 31
          Supplied password is user password
          No syntax or stream encoding errors found; the file may still contain
          Command Line Error: Incorrect password

          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == each + each)
      }
      // The same again from nothing has the same bytes.
      _ = try await shell("rm -rf $1/cache", scratch.path)
      // And another language is what a folder of the user's own says it is.
      let data = scratch.path + "/data"
      _ = try await shell("mkdir $1; cp /usr/share/tesseract-ocr/5/tessdata/eng.traineddata $1/jpn.traineddata", data)
      try await withConverter(
        scratch, "ocr=eng,password_file=\(passwords)", environment: ["TESSDATA_PREFIX": data]
      ) { mount in
        let lines = """
          cmp locked256.pdf.searchable.pdf $O/locked256.pdf.searchable.pdf && echo the same
          head -n 1 letter.png.jpn.as-txt
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == "the same\nThe library of the harbour town was open only on\n")
      }
    }
  }

  /// A page that is damaged is empty, and the others are read.
  @Test func damagedPageIsEmpty() async throws {
    try await withScratch { scratch in
      try await script("damaged_page.py", scratch.source + "/p.pdf")
      try await withConverter(scratch, "ocr=eng") { mount in
        let said = try await mount.shell(
          """
          grep -oE '<div class="ocr_page|>(first|third)<' p.pdf.as-hocr; cut -f 1,2,12 p.pdf.as-tsv | grep -E '^1|first|third'
          "\(MountProcess.binary)" why p.pdf.as-tsv | grep -o 'is damaged: page 3 cannot be read'
          """, scratch)
        #expect(
          said == """
            <div class="ocr_page
            >first<
            <div class="ocr_page
            >third<
            <div class="ocr_page
            1\t1\t
            5\t1\tfirst
            1\t2\t
            5\t2\tthird
            1\t3\t
            is damaged: page 3 cannot be read

            """)
      }
    }
  }
}
