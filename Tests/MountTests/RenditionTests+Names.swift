import TestSupport
import Testing

/// What names mean, and views of views.
extension RenditionTests {
  @Test func conversionNamesAreParsed() async throws {
    try await withScratch { scratch in
      try scratch.write("a.png", "echo")
      try scratch.write("b.q70", "BMecho")
      try scratch.write("b", "BMother")
      try scratch.write("r.pdf", "pages 12")
      try await withMount(scratch) { mount in
        let lines = """
          say() { head -n 1 "$1" | cut -d' ' -f2-; }
          say a.png.as-webp; say a.png.q70.1600px.as-jpeg; say a.png.800x600.gray.as-png; say a.png.as-png.q5.as-jpeg
          say b.q70.as-jpeg; say b.q70.q60.as-jpeg; say b.q60.as-jpeg; say r.pdf.as-txt; say r.pdf.150dpi.as-png
          say a.png.as-jpg; say a.png.1600px.as-tif; say a.png.as-heif; say r.pdf.as-jpg; stat -c %n a.png.as-heif.as-jpg
          say r.pdf.pages/2-5.pdf; say r.pdf.pages/7.pdf; say r.pdf.pages/1,3,9-.pdf; say r.pdf.pages/012.pdf.as-jpeg
          ls a.png.purple.as-jpeg a.png.q70.q60.as-jpeg a.png.xxx.as-txt a.png.as-xyz r.pdf.pages/13.pdf r.pdf.pages/0.pdf
          """
        try await expect(
          lines, mount, scratch,
          says: """
            webp 
            jpeg 1600px.q70
            png 800x600.gray
            jpeg q5
            jpeg 
            jpeg q60
            jpeg q60
            recognized eng
            png 150dpi
            jpeg 
            tiff 1600px
            heic 
            jpeg 
            a.png.as-heif.as-jpg
            pages 2-5
            pages 7
            pages 1,3,9-
            jpeg 
            ls: cannot access 'a.png.purple.as-jpeg': No such file or directory
            ls: cannot access 'a.png.q70.q60.as-jpeg': No such file or directory
            ls: cannot access 'a.png.xxx.as-txt': No such file or directory
            ls: cannot access 'a.png.as-xyz': No such file or directory
            ls: cannot access 'r.pdf.pages/13.pdf': No such file or directory
            ls: cannot access 'r.pdf.pages/0.pdf': No such file or directory

            """)
        // A name of maximum length that refers to nothing.
        let hostile =
          "n=x; while [ ${#n} -lt 240 ]; do n=$n.q1.as-jpeg; done; timeout 30 stat $n 2>&1 | grep -c 'No such'"
        try await expect(hostile, mount, scratch, says: "1\n")
      }
    }
  }

  @Test func listingsShowSelectedViews() async throws {
    try await withScratch { scratch in
      for name in ["a.heic", "b.png", "c.pdf", "d.zip"] { try scratch.write(name, "echo") }
      for (options, shown) in [
        ("workers=1", "a.heic.as-jpeg b.png.as-jpeg c.compressed.pdf c.pdf.pages d.zip.contents"),
        ("views=-png,names=extension", "a.heic.as.jpg c.compressed.pdf c.pdf.pages d.zip.contents"),
        ("views=-as-jpeg:-pages,names=extension", "c.compressed.pdf d.zip.contents"),
        ("views=-compressed:-contents:-png,names=format", "a.heic.as-jpeg c.pdf.pages"),
      ] {
        try await withMount(scratch, options) { mount in
          try await expect(
            "ls -I '?.???' -I '?.heic' | xargs; stat -c %n b.png.as.gif", mount, scratch,
            says: shown + "\nb.png.as.gif\n")
        }
      }
    }
  }

  /// Beside real files everything; in an archive what opens a file, and images; each view by name.
  @Test func presetsSelectViewsByPurposeAndPlace() async throws {
    try await withScratch { scratch in
      let make = """
        import io, sys, zipfile
        names = ["a.heic", "b.png", "c.pdf", "d.docx", "e.mbox", "f.eml", "scan", "sound", "g.flac"]
        heads = {"scan": b"II*\\0 echo", "sound": b"fLaC\\0\\0\\0\\"" + b"x" * 40, "c.pdf": b"pages 2\\n%PDF-"}
        def content(name):
            return heads.get(name, b"echo " + name.encode())
        with zipfile.ZipFile(sys.argv[1] + "/z.zip", "w") as archive:
            for name in names:
                archive.writestr(name, content(name))
        for name in names:
            open(sys.argv[1] + "/" + name, "wb").write(content(name))
        """
      let made = try await shell("python3 -c \"$1\" \"$2\"", make, scratch.source)
      try #require(made.status == 0, "\(made.errors)")
      let opening = "e.mbox.messages f.eml.message"
      let besideReal =
        "a.heic.as-jpeg c.compressed.pdf c.pdf.pages d.docx.as-pdf e.mbox.messages e.mbox.views"
        + " f.eml.message g.flac.as-mp3 scan.as-jpeg z.zip.contents"
      for (preset, top, inside) in [
        ("usual", besideReal, "a.heic.as-jpeg \(opening) scan.as-jpeg"),
        ("all", besideReal, besideReal.replacing(" z.zip.contents", with: "")),
        ("folders", "\(opening) z.zip.contents", opening),
        ("folders:-messages", "f.eml.message z.zip.contents", "f.eml.message"),
        (
          "all:-as-pdf:usual", besideReal.replacing(" d.docx.as-pdf", with: ""),
          "a.heic.as-jpeg \(opening) scan.as-jpeg"
        ),
        ("none", "", ""),
      ] {
        try await withMount(scratch, "views=-png:\(preset)") { mount in
          try await expect(
            """
            made='\\.(as-[a-z0-9]+|compressed\\.pdf|pages|messages|message|views|contents)$'
            ls | grep -E "$made" | xargs; ls z.zip.contents | grep -E "$made" | xargs
            ls z.zip.contents/c.pdf.pages; head -n 1 z.zip.contents/b.png.as-gif | cut -d' ' -f2
            """, mount, scratch, says: "\(top)\n\(inside)\n001.pdf\n002.pdf\ngif\n")
        }
      }
    }
  }

  @Test func viewsCompose() async throws {
    try await withScratch { scratch in
      let make = """
        import email.message, io, sys, zipfile
        box = io.BytesIO()
        with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.png", "echo\\n" + "z" * 9999)
            archive.writestr("r.pdf", "pages 3")
        letter = email.message.EmailMessage()
        letter["From"] = letter["To"] = "a@example.org"
        letter.set_content("hello")
        letter.add_attachment(box.getvalue(), maintype="application", subtype="zip", filename="p.zip")
        letter.add_attachment(b"echo image", maintype="image", subtype="png", filename="y.png")
        letter.add_attachment(b"pages 2", maintype="application", subtype="pdf", filename="s.pdf")
        open(sys.argv[1], "wb").write(bytes(letter))
        """
      _ = try await shell("python3 -c \"$1\" \"$2\"", make, scratch.source + "/letter.eml")
      try await withMount(scratch) { mount in
        let lines = """
          cd letter.eml.message/attachments; ls; ls p.zip.contents; ls s.pdf.pages p.zip.contents/r.pdf.pages
          say() { head -n 1 "$1" | cut -d' ' -f2-; }
          say y.png.as-jpeg; say p.zip.contents/x.png.as-jpeg; say p.zip.contents/r.pdf.pages/002.pdf.as-jpeg
          say s.pdf.pages/001.pdf.gray.as-png; cat p.zip.contents/x.png.as-jpeg | wc -c
          """
        let shown = try await run(lines, mount, scratch)
        #expect(
          shown.split(separator: "\n").dropLast()
            == """
            p.zip
            p.zip.contents
            s.pdf
            y.png
            y.png.as-jpeg
            r.pdf
            x.png
            x.png.as-jpeg
            p.zip.contents/r.pdf.pages:
            001.pdf
            002.pdf
            003.pdf

            s.pdf.pages:
            001.pdf
            002.pdf
            jpeg 
            jpeg 
            jpeg 
            png gray
            """.split(separator: "\n"))
      }
    }
  }

}
