import TestSupport
import Testing

/// `FOLDER.merged.pdf`, made by the real converter.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MergeTests {
  @Test func fiftyFilesMergeIntoOneDocument() async throws {
    try await withScratch { scratch in
      try await script("check_merge.py", scratch.source)
      try await withMount(scratch) { mount in
        let said = try await script("check_merge.py", scratch.source, mount.mountpoint, limit: 120).text
        #expect(said.hasSuffix("pages of 50 files\n"))
        let lines = """
          export LC_ALL=C.UTF-8 S="$2"; cd "$1" && {
          ls -d mixed.merged.pdf mixed/sub.merged.pdf; ls . mixed | grep -c merged
          pages() { qpdf --show-npages mixed.merged.pdf; }
          n=$(pages); cp "$S/mixed/Part 3.pdf" "$S/mixed/part 51.pdf"; sleep 1; [ $(pages) = $((n + 4)) ] && echo grown
          echo broken > "$S/mixed/part 7.png"; sleep 1; pdftotext mixed.merged.pdf - | tr -d '\\f' | grep -A 1 '^part 7.png'
          getfattr --only-values -n user.ffmount.remark mixed.merged.pdf | cut -d' ' -f1-18; [ $(pages) = $((n + 5)) ] && echo one more
          rm "$S/mixed/part 7.png" "$S/mixed/part 51.pdf"; sleep 1; [ $(pages) = $n ] && echo mended
          mkdir "$S/empty"; ls empty.merged.pdf notes.merged.pdf
          } 2>&1
          """
        let result = try await shell(lines, mount.mountpoint, scratch.source, limit: 60)
        #expect(
          result.text == """
            mixed.merged.pdf
            mixed/sub.merged.pdf
            0
            grown
            part 7.png
            This file is not an image of a known kind.
            mixed has a page with the reason in place of a file that cannot be read: part 7.png
            one more
            mended
            ls: cannot access 'empty.merged.pdf': No such file or directory
            ls: cannot access 'notes.merged.pdf': No such file or directory

            """)
      }
    }
  }

  /// A damaged file is replaced by a page that says so, whether it can be opened or not; one that asks for a password is not.
  @Test func lockedFilesAreNotOmittedFromMerge() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      let make = """
        cd "$1/source"; mkdir d; qpdf report.pdf --pages . 1 -- d/1.pdf; qpdf report.pdf --pages . 2 -- d/2.pdf
        zip -q -0 locked.zip d/1.pdf; cp locked.zip wrong.zip; 7z a -tzip -psecret -mem=AES256 locked.zip d/2.pdf > ../said
        zip -q -0 wrong.zip d/2.pdf; cp wrong.zip lost.zip; python3 - <<'P'
        for name, changes in (("wrong.zip", [(b"PK\\3\\4", 300)]), ("lost.zip", [(b"PK\\3\\4", 8), (b"PK\\1\\2", 10)])):
            with open(name, "r+b") as file:
                data = file.read()
                for mark, offset in changes:
                    place = data.rindex(mark) + offset
                    file.seek(place); file.write(bytes([data[place] ^ 13]))
        P
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let lines = """
        cat locked.zip.contents/d.merged.pdf; getfattr --only-values -n user.ffmount.error locked.zip.contents/d.merged.pdf | cut -d'(' -f1
        for a in wrong lost; do
          pdftotext $a.zip.contents/d.merged.pdf - | tr -d '\\f' | grep -e ^Page -e ^2.pdf -e '^This file' | cut -d' ' -f1-4
        done
        """
      try await withMount(scratch) { mount in
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            cat: locked.zip.contents/d.merged.pdf: Permission denied
            locked.zip.contents/d: 2.pdf the entry is encrypted and no password fits\u{20}
            Page 1
            2.pdf
            This file expected CRC-32
            Page 1
            2.pdf
            This file expected compression

            """)
      }
    }
  }
}
