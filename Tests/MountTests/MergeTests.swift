import TestSupport
import Testing

/// `FOLDER.merged.pdf`, made by the real converter.
@Suite(.serialized, .timeLimit(.minutes(3))) struct MergeTests {
  @Test func fiftyFilesAreOneDocument() async throws {
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
            This file is no image of a kind that is known here.
            mixed has a page that says why in place of a file that cannot be read: part 7.png
            one more
            mended
            ls: cannot access 'empty.merged.pdf': No such file or directory
            ls: cannot access 'notes.merged.pdf': No such file or directory

            """)
      }
    }
  }
}
