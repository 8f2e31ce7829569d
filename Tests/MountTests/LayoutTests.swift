import Foundation
import TestSupport
import Testing

/// Documents laid out by LibreOffice, through a mount.
@Suite(
  .serialized, .timeLimit(.minutes(3)),
  .enabled("needs LibreOffice") { MountScratch.exists("/usr/lib/libreoffice/program/libmergedlo.so") }
) struct LayoutTests {
  private static let sheet = "urn:oasis:names:tc:opendocument:xmlns"

  /// A text of OpenDocument with other parts beside its content.
  private static func text(_ body: String, before: String = "", _ parts: [ZipFixtureEntry] = []) -> ZipFixture {
    let spaces =
      ["office", "table", "text", "script", "drawing"].map { name in
        "xmlns:\(name == "drawing" ? "draw" : name)=\"\(sheet):\(name):1.0\""
      }.joined(separator: " ") + " xmlns:xlink=\"http://www.w3.org/1999/xlink\" office:version=\"1.3\""
      + " xmlns:svg=\"\(sheet):svg-compatible:1.0\" xmlns:dom=\"http://www.w3.org/2001/xml-events\""
    return ZipFixture(
      [
        ZipFixtureEntry("mimetype", "application/vnd.oasis.opendocument.text"),
        ZipFixtureEntry(
          "content.xml",
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document-content \(spaces)>\(before)<office:body>"
            + "<office:text>\(body)</office:text></office:body></office:document-content>"),
      ] + parts
        + [
          ZipFixtureEntry(
            "META-INF/manifest.xml",
            "<manifest:manifest xmlns:manifest=\"\(sheet):manifest:1.0\" manifest:version=\"1.3\">"
              + "<manifest:file-entry manifest:full-path=\"/\" manifest:media-type=\"application/vnd.oasis.opendocument.text\"/>"
              + (["content.xml"] + parts.map { String(decoding: $0.name, as: UTF8.self) }).map {
                "<manifest:file-entry manifest:full-path=\"\($0)\" manifest:media-type=\"text/xml\"/>"
              }.joined() + "</manifest:manifest>")
        ])
  }

  @Test func documentsArePagesAndEachOther() async throws {
    try await withScratch { scratch in
      try scratch.write("letter.docx", OfficeTests.letter("Dear Anna"))
      try scratch.write("again.docx", OfficeTests.letter("Dear Anna"))
      try scratch.write("note.txt", "Grüße\n")
      try scratch.write("page.html", "<h1>Head</h1>")
      try scratch.write("none.docx", "PK\u{3}\u{4} is how archives start, and this is none")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { ls | grep docx | tr '\\n' ' '; echo
          for f in letter.docx note.txt page.html letter.docx.as-doc; do pdftotext $f.as-pdf - | head -1; done
          cmp letter.docx.as-pdf again.docx.as-pdf && echo the same
          pdfinfo letter.docx.as-pdf | grep -E '^(Pages|Page size|CreationDate)' | tr -s ' '
          pdfinfo note.txt.as-pdf | grep -o 'A4'; ls letter.docx.pages; pdftotext letter.docx.pages/1.pdf - | head -1
          file -b letter.docx.pages/1.pdf.as-jpeg | cut -d, -f1
          cat letter.docx.as-doc.as-txt; cat letter.docx.as-rtf.as-md; file -b letter.docx.as-odt
          cat none.docx.as-pdf; getfattr --only-values -n user.ffmount.error none.docx.as-pdf | cut -d'(' -f1
          ls letter.docx.as-docx; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, limit: 120)
        #expect(
          said.text == """
            again.docx again.docx.as-pdf letter.docx letter.docx.as-pdf none.docx none.docx.as-pdf 
            Dear Anna
            Grüße
            Head
            Dear Anna
            the same
            CreationDate: Sat Jan 1 00:00:00 2000 UTC
            Pages: 1
            Page size: 612 x 792 pts (letter)
            A4
            001.pdf
            Dear Anna
            JPEG image data
            Dear Anna
            Dear Anna
            OpenDocument Text
            cat: none.docx.as-pdf: Input/output error
            none.docx: is no document that LibreOffice reads 
            ls: cannot access 'letter.docx.as-docx': No such file or directory

            """)
      }
    }
  }

  /// A macro that runs when the document opens, an image of another folder, one from a server, and a section that is a file.
  @Test func nothingRunsAndNothingIsFetched() async throws {
    try await withScratch { scratch in
      let secret = scratch.path + "/secret.txt"
      try Data("the secret\n".utf8).write(to: URL(fileURLWithPath: secret))
      let macro = """
        <?xml version="1.0" encoding="UTF-8"?><script:module xmlns:script="http://openoffice.org/2000/script" \
        script:name="Module1" script:language="StarBasic">Sub Main
        ThisComponent.Text.insertString(ThisComponent.Text.getEnd(), "the macro", False)
        End Sub</script:module>
        """
      let library = """
        <?xml version="1.0" encoding="UTF-8"?><library:library xmlns:library="http://openoffice.org/2000/library" \
        library:name="Standard" library:readonly="false" library:passwordprotected="false">\
        <library:element library:name="Module1"/></library:library>
        """
      let libraries = """
        <?xml version="1.0" encoding="UTF-8"?><library:libraries xmlns:library="http://openoffice.org/2000/library" \
        xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard" library:link="false"/>\
        </library:libraries>
        """
      let event = """
        <office:scripts><office:event-listeners><script:event-listener script:language="ooo:script" \
        script:event-name="dom:load" xlink:type="simple" \
        xlink:href="vnd.sun.star.script:Standard.Module1.Main?language=Basic&amp;location=document"/>\
        </office:event-listeners></office:scripts>
        """
      try scratch.write(
        "macro.odt",
        Self.text(
          "<text:p>plain</text:p>", before: event,
          [
            ZipFixtureEntry("Basic/Standard/Module1.xml", macro),
            ZipFixtureEntry("Basic/Standard/script-lb.xml", library), ZipFixtureEntry("Basic/script-lc.xml", libraries),
          ]))
      try scratch.write(
        "section.odt",
        Self.text(
          "<text:p>plain</text:p><text:section text:name=\"s\"><text:section-source xlink:href=\"file://\(secret)\" "
            + "text:filter-name=\"Text\"/><text:p>old</text:p></text:section>"))
      try scratch.write(
        "page.html",
        "plain<img src=\"file://\(secret)\"><img src=\"http://127.0.0.1:9/x.png\"><object data=\"file://\(secret)\">"
      )
      try scratch.write(
        "field.rtf", "{\\rtf1 plain{\\field{\\*\\fldinst INCLUDETEXT \"\(secret)\"}{\\fldrslt old}}}")
      let temporary = scratch.path + "/temporary"
      try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
      try await withMount(scratch, environment: ["TMPDIR": temporary]) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { for f in macro.odt section.odt page.html field.rtf; do
          pdftotext $f.as-pdf - | tr -s '\\n\\f' '  '; echo; done; pdfimages -list page.html.as-pdf | tail -n +3 | wc -l
          for f in section.odt field.rtf; do cat $f.as-docx | grep -c 'the secret'; done
          ls "$2" | wc -l; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, temporary, limit: 120)
        #expect(!said.text.contains("the macro") && !said.text.contains("the secret"), "\(said.text)")
        #expect(said.lines.first?.hasPrefix("plain") ?? false, "\(said.text)")
        #expect(said.lines.suffix(4) == ["0", "0", "0", "0"], "\(said.text)")
      }
    }
  }

  /// A system without LibreOffice.
  @Test(.enabled("needs root") { MountScratch.isRoot }) func withoutItThereAreTextsAndASentence() async throws {
    try await withScratch { scratch in
      let hidden = ["unshare", "-m", "--propagation", "slave", "sh", "-c"]
      let lines = "mount -t tmpfs none /usr/lib/libreoffice && exec \(MountProcess.binary) formats"
      let said = try await MountChild(hidden + [lines]).wait(atMost: 30)
      #expect(
        said.lines.contains { $0.hasPrefix("Not installed: fflayout") && $0.contains("libreoffice-writer-nogui") })
      try scratch.write("letter.docx", OfficeTests.letter("Dear Anna"))
      try scratch.write("letters/1.docx", OfficeTests.letter("Dear Anna"))
      let mounted = """
        mount -t tmpfs none /usr/lib/libreoffice && cd "$2" && \(MountProcess.binary) "$1" "$2" && cd "$2" && {
        ls; cat letter.docx.as-txt; ls letter.docx.as-pdf letters.merged.pdf; } 2>&1; cd /; fusermount3 -u "$2"
        """
      let shown = try await MountChild(hidden + [mounted, "sh", scratch.source, scratch.mountpoint]).wait(atMost: 30)
      #expect(
        shown.lines == [
          "letter.docx", "letters", "Dear Anna", "ls: cannot access 'letter.docx.as-pdf': No such file or directory",
          "ls: cannot access 'letters.merged.pdf': No such file or directory",
        ])
    }
  }
}
