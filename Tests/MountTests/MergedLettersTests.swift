import TestSupport
import Testing

/// `FOLDER.merged.pdf` of what LibreOffice lays out, through a mount.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled("needs LibreOffice") { MountScratch.exists("/usr/lib/libreoffice/program/libmergedlo.so") }
) struct MergedLettersTests {
  @Test func lettersAndTextsMergeIntoOneDocument() async throws {
    try await withScratch { scratch in
      try scratch.write("all/letter 10.docx", OfficeTests.letter("Dear Bert"))
      try scratch.write("all/letter 9.docx", OfficeTests.letter("Dear Anna"))
      try scratch.write("all/note.txt", "Grüße\n")
      try scratch.write("all/page.md", "# Head\n")
      try scratch.write("all/table.csv", "a,b\n")
      try scratch.write("bad/1.txt", "fine\n")
      try scratch.write("bad/2.docx", "PK\u{3}\u{4} is how archives start, and this is none")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { chmod 600 "$2/all/note.txt"; stat -c %a all.merged.pdf
          { timeout .1 cat all.merged.pdf; } | head -c 0; words() { pdftotext all.merged.pdf - | tr -s '\\n\\f' '  '; echo; }
          md5sum < all.merged.pdf > "$3" & words; wait
          md5sum < all.merged.pdf | cmp - "$3" && echo the same
          mv "$2/all/letter 9.docx" "$2/all/letter 11.docx"; sleep 1; words
          pdftotext bad.merged.pdf - | tr -d '\\f' | grep -e fine -e 2.docx -e 'This file' | cut -d'(' -f1
          getfattr --only-values -n user.ffmount.remark bad.merged.pdf | cut -d'(' -f1; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, scratch.source, scratch.path + "/sum", limit: 60)
        #expect(
          said.text == """
            600
            Dear Anna Dear Bert Grüße Head 
            the same
            Dear Bert Dear Anna Grüße Head 
            fine
            2.docx
            This file is not a document that LibreOffice can read 
            bad has a page with the reason in place of a file that cannot be read: 2.docx is not a document that LibreOffice can read 

            """)
      }
    }
  }
}
