import TestSupport

extension SemanticsTests {
  private static func documents(_ scratch: MountScratch) async throws {
    try await script("make_documents.py", scratch.source)
  }

  // MARK: PDF and images

  static let conversions = [
    SemanticsExample(
      "a PDF's pages are files",
      "ls -d report.pdf*; ls report.pdf.pages | sed -n '1p;$p'; file -b report.pdf.pages/007.pdf",
      "report.pdf\nreport.pdf.pages\n001.pdf\n012.pdf\nPDF document, version 1.4, 1 pages\n", build: documents),
    SemanticsExample(
      "pages by name",
      """
      cd report.pdf.pages; for n in 7 2-5 1,3,9-; do file -b $n.pdf; done; cmp 7.pdf 007.pdf && echo same
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
      "a PDF as an image and as text",
      """
      file -b report.pdf.144dpi.as-png report.pdf.pages/003.pdf.100px.as-jpeg | grep -oE '[0-9]+ ?x ?[0-9]+'
      grep -ao 'Page [0-9]*' report.pdf.as-txt | tail -n 1
      """,
      "400 x 400\n100x100\nPage 12\n", build: documents),
    SemanticsExample(
      "a compressed PDF is never larger",
      """
      ls -d report*; cp report.compressed.pdf /dev/null; cmp <(pdftotext report.pdf -) <(pdftotext report.compressed.pdf -)
      [ $(stat -c %s report.72dpi.q40.compressed.pdf) -le $(stat -c %s report.pdf) ] && echo smaller
      """,
      "report.compressed.pdf\nreport.pdf\nreport.pdf.pages\nsmaller\n", build: documents),
    SemanticsExample(
      "an image has its JPEG beside it", "ls -d photo*; file -b photo.png.as-jpeg | cut -d, -f1",
      "photo.png\nphoto.png.as-jpeg\nJPEG image data\n", build: documents),
    SemanticsExample(
      "modifiers stand in front of the format",
      "file -b photo.png.100px.q70.as-png photo.png.rot90.50%.as-png | cut -d, -f2; ls photo.png.purple.as-png",
      " 100 x 75\n 150 x 200\nls: cannot access 'photo.png.purple.as-png': No such file or directory\n",
      build: documents),
    SemanticsExample(
      "sizes are exact from the first open on",
      """
      f=photo.png.100px.as-webp; say() { getfattr --only-values -n user.ffmount.state $f; echo; }
      say; [ $(stat -c %s $f) -gt 0 ] && cat $f > /dev/null; say; [ $(stat -c %s $f) = $(cat $f | wc -c) ] && echo same
      """,
      "estimate\nexact\nsame\n", build: documents),
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
      5

      """
    ) {
      try $0.write("bad.png", "no image")
      try $0.write("bad.pdf", "no PDF")
    },
  ]
}
