import TestSupport
import Testing

private let hasLanguages = ["eng", "osd"].allSatisfy {
  MountScratch.exists("/usr/share/tesseract-ocr/5/tessdata/\($0).traineddata")
}

/// Clean pages of the photos of Tests/Scripts/make_photos.py, through a mount.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasLanguages, "needs tesseract-ocr-eng and -osd"))
struct ScanTests {
  private func withPhotos(_ body: (MountProcess, MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      try await scratch.make("make_photos.py")
      try await withConverter(scratch, "workers=2,ocr=eng") { mount in try await body(mount, scratch) }
    }
  }

  @Test func scannedPageIsStraightCleanAndUpright() async throws {
    try await withPhotos { mount, scratch in
      let lines = """
        getfattr --only-values -n user.ffmount.remark page.jpg.scan.as-jpeg 2>&1 | cut -d: -f2-
        cat none.jpg.scan.as-jpeg > $O/none.jpg; getfattr --only-values -n user.ffmount.remark none.jpg.scan.as-jpeg; echo
        cat page.jpg.scan.as-jpeg | cmp - page.jpg.colour.scan.as-jpeg; cat page.jpg.scan.page2.as-jpeg
        ls page.jpg.gray.bw.scan.as-jpeg page.jpg.bw.as-jpeg page.jpg.scan.scan.as-jpeg
        """
      let pages = [
        "page.jpg.scan.as-jpeg", "over.jpg.scan.as-png", "page.jpg.scan.gray.as-jpeg",
        "page.jpg.800x800.scan.bw.as-png",
      ]
      for page in pages { _ = try await script("check_scans.py", "\(mount.mountpoint)/\(page)") }
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
           user.ffmount.remark: No such attribute
          none.jpg shows no distinct page, so the whole picture was used
          cat: page.jpg.scan.page2.as-jpeg: No such file or directory
          ls: cannot access 'page.jpg.gray.bw.scan.as-jpeg': No such file or directory
          ls: cannot access 'page.jpg.bw.as-jpeg': No such file or directory
          ls: cannot access 'page.jpg.scan.scan.as-jpeg': No such file or directory

          """)
    }
  }

  @Test func photographedPageIsStraightenedForRecognition() async throws {
    try await withPhotos { mount, scratch in
      let lines = """
        cat turned.jpg.as-txt | tr -s '\\n' | head -n 2
        getfattr --only-values -n user.ffmount.remark turned.jpg.as-txt | cut -d'(' -f1
        getfattr --only-values -n user.ffmount.remark none.jpg.as-txt 2>&1 | cut -d: -f2-
        # Words are told where they are in the photo.
        python3 -c '
        import re, sys
        for left, top, right, bottom, word in re.findall(
                r"ocrx_word.*?bbox (\\d+) (\\d+) (\\d+) (\\d+).*?>(\\w+)<", sys.stdin.read()):
            if word in ("turned", "4711"): print(word, (int(left) + int(right)) // 200, (int(top) + int(bottom)) // 200)
        ' < turned.jpg.as-hocr
        pdftotext turned.jpg.searchable.pdf - | grep -o 4711 | wc -l
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          The turned page
          Receipt number 4711
          turned.jpg is read as a photo of a page, which was straightened 
           user.ffmount.remark: No such attribute
          turned 7 2
          4711 10 4
          4711 9 7
          2

          """)
    }
  }

  @Test func multiplePagesInPhotoBecomeSeparateFiles() async throws {
    try await withPhotos { mount, scratch in
      let lines = """
        ls two.jpg.scan.pages two.jpg.scan.bw.pages page.jpg.scan.pages
        ls -U roll.scan.bw.pages; cmp roll.scan.bw.pages/p2.jpg roll/p2.jpg.scan.bw.as-jpeg
        cp $S/page.jpg $S/roll/p7.jpg; sleep .6; ls roll.scan.bw.pages | wc -l; rm $S/roll/p7.jpg; sleep .6
        ls roll.scan.bw.pages/p7.jpg; getfattr --only-values -n user.ffmount.source roll.scan.bw.pages/p10.jpg; echo
        for n in 1 2; do cmp two.jpg.scan.pages/00$n.jpg two.jpg.scan.page$n.as-jpeg; head -n 1 two.jpg.scan.pages/00$n.jpg.as-txt; done
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          page.jpg.scan.pages:
          001.jpg

          two.jpg.scan.bw.pages:
          001.jpg
          002.jpg

          two.jpg.scan.pages:
          001.jpg
          002.jpg
          p2.jpg
          p10.jpg
          3
          ls: cannot access 'roll.scan.bw.pages/p7.jpg': No such file or directory
          roll/p10.jpg
          The left page
          The right page

          """)
    }
  }

  @Test func photosOfPagesBecomeOneSearchableDocument() async throws {
    try await withPhotos { mount, scratch in
      let lines = """
        for f in roll.bw.scan.pdf skewed.pdf.gray.scan.pdf page.jpg.scan.bw.as-pdf; do
          cat $f > $O/x.pdf; qpdf --check $O/x.pdf > /dev/null && pdftotext $O/x.pdf - | grep -c 'number 4711'
          pdftotext $O/x.pdf - | grep -o 'The [a-z]* page' | paste -s -d,
          pdfimages -list $O/x.pdf | awk 'NR > 2 { print $6, $8, $9 }' | uniq; pdfinfo $O/x.pdf | grep -c A4
        done
        [ $(stat -c %s page.jpg.scan.bw.as-pdf) -lt 60000 ] && echo small
        cat roll.bw.scan.pdf | cmp - roll.eng.bw.scan.pdf; cat none.jpg.scan.pdf | head -c 5; echo
        getfattr --only-values -n user.ffmount.remark none.jpg.scan.pdf; echo; file -b page.jpg.scan.bw.as-png | cut -d, -f3
        """
      let said = try await mount.shell(lines, scratch)
      #expect(
        said == """
          4
          The second page,The tenth page
          gray 1 jbig2
          1
          2

          gray 8 jpeg
          1
          0

          gray 1 jbig2
          1
          small
          %PDF-
          none.jpg shows no distinct page, so the whole picture was used
           1-bit grayscale

          """)
    }
  }
}
