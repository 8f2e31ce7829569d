import TestSupport
import Testing

/// `STEM.compressed.pdf` through a mount, made by ffconvert from the documents of Tests/Scripts/make_compressible.py.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CompressionTests {
  /// Checks the output of a shell in a mount of the documents; `$S` is the source, `$O` a folder for results.
  private func expect(
    _ lines: String, _ mount: MountProcess, _ scratch: MountScratch, says expected: String,
    _ place: SourceLocation = #_sourceLocation
  ) async throws {
    let start = """
      export LC_ALL=C.UTF-8 S=$2/source O=$2/out; mkdir -p $O; cd "$1" || exit
      images() { pdfimages -list $1 2>&1 | awk 'NR > 2 { print $1, $3, $4, $5, $6, $8, $9 }'; }
      say() { getfattr --only-values -n user.ffmount.$1 $2; echo; }
      { \(lines)
      } 2>&1
      """
    let said = try await shell(start, mount.mountpoint, scratch.path, limit: 60).text
    #expect(said == expected, sourceLocation: place)
  }

  private func withDocuments(
    _ kinds: String = "", _ body: (MountProcess, MountScratch) async throws -> Void
  ) async throws {
    try await withScratch { scratch in
      try await scratch.make("make_compressible.py", kinds)
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      try await withMount(scratch, environment: environment) { mount in try await body(mount, scratch) }
    }
  }

  @Test func imagesAreDownsampledToDisplayResolution() async throws {
    try await withDocuments { mount, scratch in
      // In a form with a matrix, rotated, and twice at two sizes.
      try await expect(
        "images form.compressed.pdf; images twice.compressed.pdf", mount, scratch,
        says: """
          1 image 225 169 rgb 8 jpeg
          2 image 225 169 rgb 8 jpeg
          1 image 450 338 rgb 8 jpeg
          1 image 450 338 rgb 8 jpeg

          """)
      // By name, with modifiers in either order.
      let lines = """
        images form.72dpi.compressed.pdf | head -n 1
        cmp form.100dpi.q40.compressed.pdf form.q40.100dpi.compressed.pdf && images form.100dpi.q40.compressed.pdf | head -n 1
        [ $(cat form.q90.compressed.pdf | wc -c) -gt $(cat form.q20.compressed.pdf | wc -c) ] && echo smaller
        ls form.purple.compressed.pdf form.gray.compressed.pdf form.q40.q40.compressed.pdf none.compressed.pdf
        """
      try await expect(
        lines, mount, scratch,
        says: """
          1 image 108 81 rgb 8 jpeg
          1 image 150 113 rgb 8 jpeg
          smaller
          ls: cannot access 'form.purple.compressed.pdf': No such file or directory
          ls: cannot access 'form.gray.compressed.pdf': No such file or directory
          ls: cannot access 'form.q40.q40.compressed.pdf': No such file or directory
          ls: cannot access 'none.compressed.pdf': No such file or directory

          """)
    }
  }

  @Test func compressionPreservesColourSpaces() async throws {
    try await withDocuments { mount, scratch in
      // The last one has a colour key mask: it keeps every pixel.
      try await expect(
        "images colours.compressed.pdf", mount, scratch,
        says: """
          1 image 225 169 gray 8 jpeg
          2 image 225 169 cmyk 8 jpeg
          3 image 225 169 rgb 8 jpeg
          3 smask 225 169 gray 8 jpeg
          4 image 225 169 rgb 8 jpeg
          5 image 600 450 rgb 8 image

          """)
      // Black and white images are lossless, whatever their encoding was.
      let lines = """
        images bilevel.compressed.pdf
        for f in $S/bilevel.pdf bilevel.compressed.pdf; do pdftoppm -r 300 $f | md5sum; done | uniq | wc -l
        pdfimages -list copies.compressed.pdf | awk 'NR > 2 { print $11 }' | sort -u | wc -l
        """
      try await expect(
        lines, mount, scratch,
        says: """
          1 image 450 338 gray 1 jbig2
          2 image 450 338 gray 1 jbig2
          3 image 450 338 gray 1 jbig2
          4 stencil 450 338 - 1 jbig2
          1
          1

          """)
    }
  }

  @Test func compressionKeepsTextAndNeverGrows() async throws {
    try await withDocuments { mount, scratch in
      let lines = """
        for f in form twice colours bilevel copies signed; do
          cmp <(pdftotext $S/$f.pdf -) <(pdftotext $f.compressed.pdf -) || echo text of $f
          qpdf --check $f.compressed.pdf > $O/said || cat $O/said
          [ $(cat $f.compressed.pdf | wc -c) -le $(stat -c %s $S/$f.pdf) ] || echo $f grew
          [ $(cat $f.compressed.pdf | wc -c) = $(stat -c %s $f.compressed.pdf) ] || echo size of $f
        done; pdftotext form.compressed.pdf - | grep -c Seen
        """
      try await expect(lines, mount, scratch, says: "1\n")
    }
  }

  @Test func unmodifiableDocumentsAreReturnedWithReason() async throws {
    try await withDocuments { mount, scratch in
      let lines = """
        cd $S; qpdf --encrypt '' secret 256 --modify=none -- form.pdf bound.pdf; qpdf --encrypt a b 256 -- form.pdf locked.pdf
        head -c 20000 form.pdf > cut.pdf; echo no PDF > none.pdf; : > empty.pdf; cd $OLDPWD
        sleep .6
        for f in signed bound locked cut; do
          say state $f.compressed.pdf; cmp $f.compressed.pdf $S/$f.pdf; say state $f.compressed.pdf; say remark $f.compressed.pdf
        done
        cat none.compressed.pdf; say remark none.compressed.pdf; cat empty.compressed.pdf; say remark empty.compressed.pdf; say remark form.compressed.pdf
        """
      try await expect(
        lines, mount, scratch,
        says: """
          exact
          exact
          signed.pdf is not changed: it is signed, and the signature is for these bytes
          exact
          exact
          bound.pdf is not changed: its owner forbids that
          exact
          exact
          locked.pdf is not changed: it requires a password, and no known password fits (-o password_file=FILE)
          exact
          exact
          cut.pdf is not changed: it is damaged, and programs may display it differently
          no PDF
          none.pdf is not changed: it is not a readable PDF (unable to find trailer dictionary while recovering damaged file)
          empty.pdf is not changed: it is empty
          form.compressed.pdf: user.ffmount.remark: No such attribute


          """)
    }
  }

  @Test func unusualPDFConstructsAreCompressed() async throws {
    try await withDocuments("odd") { mount, scratch in
      // All images painted small are also painted large.
      let sizes = """
        for f in elsewhere-*.compressed.pdf; do images $f | awk '$3 < 600 && $3 > 4'; done
        ls | grep -c elsewhere.*compressed
        """
      try await expect(sizes, mount, scratch, says: "7\n")
      let looks = """
        for f in palettes dots; do
          cat $f.compressed.pdf > $O/$f.pdf; qpdf --check $O/$f.pdf > $O/said || cat $O/said
          [ $(stat -c %s $O/$f.pdf) -lt $(stat -c %s $S/$f.pdf) ] || echo $f grew
          pdftoppm -r 72 $S/$f.pdf $O/$f.before; pdftoppm -r 72 $O/$f.pdf $O/$f.after
          /usr/bin/python3 - $O/$f <<'END'
        import glob, sys
        from PIL import Image, ImageChops, ImageStat
        for name in sorted(glob.glob(sys.argv[1] + ".before*")):
            images = [Image.open(file) for file in (name, name.replace(".before", ".after"))]
            change = ImageChops.difference(*images).crop((72, 660, 180, 770))
            if sum(ImageStat.Stat(change).mean) > 6: print(name.rsplit("/")[-1], ImageStat.Stat(change).mean)
        END
        done
        """
      try await expect(looks, mount, scratch, says: "")
      let rest = """
        images deep.compressed.pdf | tail -n 1; cmp initialled.compressed.pdf $S/initialled.pdf; say remark initialled.compressed.pdf
        pdfinfo titled.compressed.pdf | grep Title; timeout 60 head -c 5 circle.pdf.pages/001.pdf; echo
        pdffonts glyphs.pdf.pages/001.pdf 2> /dev/null | grep -c Courier; timeout 60 head -c 5 large.compressed.pdf
        """
      try await expect(
        rest, mount, scratch,
        says: """
          1 image 600 450 gray 16 image
          initialled.pdf is not changed: it is signed, and the signature is for these bytes
          Title:           Of the trailer
          %PDF-
          1
          %PDF-
          """)
    }
  }

  @Test func compressedBytesAndRemarksAreStableAcrossMounts() async throws {
    try await withScratch { scratch in
      try await scratch.make("make_compressible.py")
      for cache in ["one", "one", "other"] {
        let environment = ["XDG_CACHE_HOME": "\(scratch.path)/\(cache)", "TMPDIR": scratch.path]
        try await withMount(scratch, environment: environment) { mount in
          let lines = """
            md5sum < colours.compressed.pdf > $O/sum; [ -e $O/first ] || cp $O/sum $O/first; cmp $O/first $O/sum
            [ -e $O/seen ] || cat signed.compressed.pdf > $O/seen
            case \(cache) in one) say remark signed.compressed.pdf; say state signed.compressed.pdf;; esac
            """
          let said = "signed.pdf is not changed: it is signed, and the signature is for these bytes\nexact\n"
          try await expect(lines, mount, scratch, says: cache == "one" ? said : "")
        }
      }
    }
  }

  @Test func namesIgnoreCaseAndRealFilesTakePrecedence() async throws {
    try await withScratch { scratch in
      try await scratch.make("make_compressible.py")
      let prepare = """
        cd "$1"; mkdir all; cp form.pdf all/a.PDF; cp form.pdf all/b.pdf; cp twice.pdf all/b.PDF; echo mine > all/c.compressed.pdf
        cp form.pdf all/c.pdf; cp form.pdf all/d.72dpi.pdf; cp form.pdf all/e; rm *.pdf
        """
      _ = try await shell(prepare, scratch.source)
      try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]) { mount in
        let lines = """
          cd all; ls | grep compressed; images a.compressed.pdf | head -n 1; cat c.compressed.pdf
          # Of two, the one in small letters has the name.
          images b.compressed.pdf | head -n 1; images d.72dpi.compressed.pdf | head -n 1
          cat a.PDF.pages/001.compressed.pdf | head -c 5; echo; ls e.compressed.pdf
          """
        try await expect(
          lines, mount, scratch,
          says: """
            a.compressed.pdf
            b.compressed.pdf
            c.compressed.compressed.pdf
            c.compressed.pdf
            c.compressed.pdf.pages
            d.72dpi.compressed.pdf
            1 image 225 169 rgb 8 jpeg
            mine
            1 image 225 169 rgb 8 jpeg
            1 image 225 169 rgb 8 jpeg
            %PDF-
            ls: cannot access 'e.compressed.pdf': No such file or directory

            """)
      }
    }
  }
}
