import TestSupport

extension SemanticsTests {
  private static func documents(_ scratch: MountScratch) async throws {
    try await script("make_documents.py", scratch.source)
  }

  // MARK: Tables

  static let tables = [
    SemanticsExample(
      "a table as aligned text, and as a page",
      """
      cat t.csv.as-txt; grep -c '<tr>' t.csv.as-html; grep -o '<td>Äpfel<td class=n>3,5' t.csv.as-html
      ls; cat zip.zip.contents/in.csv.as-txt; ls notes.txt.as-html t.csv.purple.as-txt
      """,
      """
      name      größe
      ------  -------
      Äpfel       3,5
      Birnen  1.234,0
      京都         12
      4
      <td>Äpfel<td class=n>3,5
      notes.txt
      t.csv
      zip.zip
      zip.zip.contents
      a  b
      -  -
      x  y
      ls: cannot access 'notes.txt.as-html': No such file or directory
      ls: cannot access 't.csv.purple.as-txt': No such file or directory

      """
    ) {
      try $0.write("t.csv", "name;größe\r\nÄpfel;3,5\r\n\"Birnen\";1.234,0\r\n京都;12\r\n")
      try $0.write("notes.txt", "a,b\n")
      try $0.write("zip.zip", ZipFixture(ZipFixtureEntry("in.csv", "a,b\nx,y\n").deflated()))
    },
    SemanticsExample(
      "JSON is indented, up to its fault", "cat good.json.as-txt bad.json.as-txt lines.jsonl.as-txt",
      """
      {
        "a": [
          1,
          {}
        ]
      }
      [
        tr
      [not JSON from line 2, byte 4 on: expected true, found ']']
      1
      [not JSON from line 2, byte 2 on: expected a value, found 'x']
      2

      """
    ) {
      try $0.write("good.json", "{\"a\":[1,{}]}")
      try $0.write("bad.json", "[\ntr]")
      try $0.write("lines.jsonl", "1\nx\n2\n")
    },
    SemanticsExample(
      "sizes of tables are exact from the open on, those of large ones are guesses",
      """
      f=small.csv.as-html; [ $(stat -c %s $f) -gt 0 ] && cat $f > /dev/null; [ $(stat -c %s $f) = $(cat $f | wc -c) ] && echo same
      tar cf - $f | tar tf -; cp $f $S.copy && cmp $f $S.copy && echo copied
      python3 - > $S/large.csv <<'END'
      print("number,word\\n" + "".join("%d,word %d\\n" % (i, i % 7) for i in range(2_500_000)))
      END
      f=large.csv.as-txt; state() { getfattr --only-values -n user.ffmount.state $f; echo; }
      state; head -n 3 $f; state; dd if=$f bs=1000 skip=500 count=1 status=none | wc -c
      [ $(stat -c %s $f) -gt $(stat -c %s large.csv) ] && echo guessed
      """,
      """
      same
      small.csv.as-html
      copied
      estimate
      number  word
      ------  ------
           0  word 0
      estimate
      1000
      guessed

      """
    ) { try $0.write("small.csv", "a,b\n1,2\n") },
  ]

  // MARK: PDF and images

  static let conversions = [
    SemanticsExample(
      "a PDF's pages are files",
      "ls -d report.pdf*; ls report.pdf.pages | sed -n '1p;$p'; file -b report.pdf.pages/007.pdf | tr -d '()'",
      "report.pdf\nreport.pdf.pages\n001.pdf\n012.pdf\nPDF document, version 1.4, 1 pages\n", build: documents),
    SemanticsExample(
      "pages by name",
      """
      cd report.pdf.pages; for n in 7 2-5 1,3,9-; do file -b $n.pdf; done | tr -d '()'; cmp 7.pdf 007.pdf && echo same
      ls 13.pdf 0.pdf
      """,
      """
      PDF document, version 1.4, 1 pages
      PDF document, version 1.4, 4 pages
      PDF document, version 1.4, 6 pages
      same
      ls: cannot access '13.pdf': No such file or directory
      ls: cannot access '0.pdf': No such file or directory

      """, build: documents),
    SemanticsExample(
      "a PDF as an image, as text and as a page",
      """
      file -b report.pdf.144dpi.as-png report.pdf.pages/003.pdf.100px.as-jpeg | grep -oE '[0-9]+ ?x ?[0-9]+'
      grep -ao 'Page [0-9]*' report.pdf.as-txt | tail -n 1
      grep -o '<p>Page [0-9]*</p>' report.pdf.as-html | tail -n 1; grep -c '<hr>' report.pdf.as-html; ls report.pdf.as-md
      """,
      "400 x 400\n100x100\nPage 12\n<p>Page 12</p>\n11\nls: cannot access 'report.pdf.as-md': No such file or directory\n",
      build: documents),
    SemanticsExample(
      "a compressed PDF is never larger",
      """
      ls -d report*; cp report.compressed.pdf /dev/null; cmp <(pdftotext report.pdf -) <(pdftotext report.compressed.pdf -)
      [ $(stat -c %s report.72dpi.q40.compressed.pdf) -le $(stat -c %s report.pdf) ] && echo smaller
      """,
      "report.compressed.pdf\nreport.pdf\nreport.pdf.pages\nsmaller\n", build: documents),
    SemanticsExample(
      "a PDF that has text is searchable as it is",
      "cmp report.pdf report.pdf.searchable.pdf && getfattr --only-values -n user.ffmount.remark report.pdf.searchable.pdf",
      "report.pdf is not changed: none of its pages has text to recognise", build: documents),
    SemanticsExample(
      "an image has its JPEG beside it",
      "cp $S/photo.png $S/scan.tif; ls -d photo* scan*; file -b photo.png.as-jpeg scan.tif.as-jpeg | cut -d, -f1",
      "photo.png\nscan.tif\nscan.tif.as-jpeg\nJPEG image data\nJPEG image data\n", build: documents),
    SemanticsExample(
      "every .as-FORMAT is there as .as.EXTENSION",
      """
      cmp photo.png.as-jpeg photo.png.as.jpg && cmp photo.png.50px.as-tiff photo.png.50px.as.TIF && echo same
      cmp report.pdf.as-txt report.pdf.as.txt && file -b report.pdf.pages/003.pdf.as.jpeg | cut -d, -f1
      printf 'a,b\\n1,2\\n' > $S/x.csv; echo own > $S/photo.png.as.gif; cmp x.csv.as-html x.csv.as.htm && cat photo.png.as.gif
      ls photo.png.as.xyz photo.png.jpg
      """,
      """
      same
      JPEG image data
      own
      ls: cannot access 'photo.png.as.xyz': No such file or directory
      ls: cannot access 'photo.png.jpg': No such file or directory

      """, build: documents),
    SemanticsExample(
      "modifiers stand in front of the format",
      "file -b photo.png.100px.q70.as-png photo.png.rot90.50%.as-png | cut -d, -f2; ls photo.png.purple.as-png",
      " 100 x 75\n 150 x 200\nls: cannot access 'photo.png.purple.as-png': No such file or directory\n",
      build: documents),
    SemanticsExample(
      "the pieces of an image are files",
      """
      ls photo.png.2x3.tiles; file -b photo.png.2x3.tiles/3-2.png photo.png.1:1.gray.2x2.tiles/1-1.png | cut -d, -f2
      cmp photo.png.2x3.tiles/1-2.png photo.png.tile1-2of2x3.as-png && ls photo.png.1x12.tiles | tail -n 1
      ls photo.png.2x3.tiles/4-1.png; ls -d photo.png.tiles photo.png.65x1.tiles report.pdf.2x2.tiles
      """,
      """
      1-1.png
      1-2.png
      2-1.png
      2-2.png
      3-1.png
      3-2.png
       200 x 100
       150 x 150
      12-1.png
      ls: cannot access 'photo.png.2x3.tiles/4-1.png': No such file or directory
      ls: cannot access 'photo.png.tiles': No such file or directory
      ls: cannot access 'photo.png.65x1.tiles': No such file or directory
      ls: cannot access 'report.pdf.2x2.tiles': No such file or directory

      """, build: documents),
    SemanticsExample(
      "images of simple formats are read and written",
      """
      for f in bmp pcx sgi ras xwd xbm pbm ppm pam ico tga qoi exr; do cp photo.png.40px.as-$f $S/a.$f; done; ls *.as-jpeg
      for f in bmp pcx sgi ras xwd xbm pbm ppm pam ico tga qoi exr; do file -b a.$f.as-png; done | cut -d, -f2 | uniq
      cp photo.png.40px.as-yuv $S/a.yuv; stat -c %s a.yuv; file -b a.yuv.40x30.as-png | cut -d, -f2
      cmp photo.png.40px.as-ppm photo.png.40px.as-tga.as-ppm && getfattr --only-values -n user.ffmount.remark photo.png.as-yuv
      echo; ls a.yuv.as-png a.yuv.as-jpeg
      """,
      """
      a.exr.as-jpeg
      a.pam.as-jpeg
      a.pbm.as-jpeg
      a.pcx.as-jpeg
      a.ppm.as-jpeg
      a.qoi.as-jpeg
      a.ras.as-jpeg
      a.sgi.as-jpeg
      a.tga.as-jpeg
      a.xwd.as-jpeg
       40 x 30
      1800
       40 x 30
      photo.png is 400 × 300 pixels in planes, 4:2:0 by BT.601, without a header that says so
      ls: cannot access 'a.yuv.as-png': No such file or directory
      ls: cannot access 'a.yuv.as-jpeg': No such file or directory

      """, build: documents),
    SemanticsExample(
      "an image of no more bytes than its name says",
      """
      [ $(cat photo.png.30k.as-jpeg | wc -c) -le 30000 ] && file -b photo.png.30k.as-jpeg | grep -o 400x300
      cp photo.png.as-jpeg $S/small.jpg; cmp small.jpg small.jpg.900k.as-jpeg && echo same; ls photo.png.0k.as-jpeg
      """,
      "400x300\nsame\nls: cannot access 'photo.png.0k.as-jpeg': No such file or directory\n", build: documents),
    SemanticsExample(
      "other spellings of formats",
      "for f in jpg:jpeg tif:tiff heif:heic; do cmp photo.png.50px.as-${f%:*} photo.png.50px.as-${f#*:} && echo same; done",
      "same\nsame\nsame\n", build: documents),
    SemanticsExample(
      "every page of a TIFF, and what moves goes on moving",
      """
      pages() { qpdf --show-npages $1; }; pages scan.tif.as-pdf; pages scan.tif.20px.gray.as-pdf; pages pictures.merged.pdf
      tiffinfo scan.tif.as-tiff 2>&1 | grep -c Directory
      for f in film.gif.as-webp film.gif.as-gif film.gif.20px.rot90.as-webp film.gif.as-png; do vipsheader -f n-pages $f 2> /dev/null || echo one; done
      cat cut.tif.as-pdf; getfattr --only-values -n user.ffmount.error cut.tif.as-pdf; echo; file -b cut.tif.as-jpeg | cut -d, -f1
      """,
      """
      3
      3
      7
      3
      4
      4
      4
      one
      cat: cut.tif.as-pdf: Input/output error
      cut.tif: ends before its page 4
      JPEG image data

      """
    ) { try await script("make_pictures.py", $0.source) },
    SemanticsExample(
      "a raw photo is developed or refused",
      """
      vipsheader photo.dng.as-jpeg photo.dng.as-png 2>&1 | grep -o ' [0-9]*x[0-9]*'; ls photo.dng*
      cat odd.dng.as-jpeg; getfattr --only-values -n user.ffmount.error odd.dng.as-jpeg | cut -d'(' -f1
      """,
      """
       128x96
       128x96
      photo.dng
      photo.dng.as-jpeg
      cat: odd.dng.as-jpeg: Input/output error
      odd.dng: is a raw photo of an unknown kind 

      """
    ) { try await script("make_pictures.py", $0.source) },
    SemanticsExample(
      "sizes are exact from the first open on",
      """
      f=photo.png.100px.as-webp; say() { getfattr --only-values -n user.ffmount.state $f; echo; }
      ls -l > /dev/null; cat $f > /dev/null; say; [ $(stat -c %s $f) = $(cat $f | wc -c) ] && echo same
      f=photo.png.90px.as-webp; [ $(stat -c %s $f) = $(cat $f | wc -c) ] && echo same
      """,
      "exact\nsame\nsame\n", build: documents),
    SemanticsExample(
      "what cannot be converted says why",
      """
      cat bad.png.as-jpeg; getfattr --only-values -n user.ffmount.state bad.png.as-jpeg; echo
      getfattr --only-values -n user.ffmount.error bad.png.as-jpeg | cut -d: -f1; ls bad.pdf.pages; ls | wc -l
      """,
      """
      cat: bad.png.as-jpeg: Input/output error
      failed
      bad.png
      ls: cannot open directory 'bad.pdf.pages': Input/output error
      4

      """
    ) {
      try $0.write("bad.png", "no image")
      try $0.write("bad.pdf", "no PDF")
    },
  ]
}
