import TestSupport
import Testing

/// PDFs with passwords, through a mount, by the real converter; qpdf encrypts them and reports their encryption.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: MountScratch.has("qpdf"), "needs qpdf"))
struct ProtectedDocumentTests {
  /// Must appear nowhere except in the password file.
  private static let (reader, owner) = ("rosebud-for-readers", "xanadu-for-owners")

  /// `$U` and `$X` are the user's and the owner's password in the lines that `say` runs in a mount.
  private func withDocuments(_ body: (MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      let lines = """
        cd "$1/source"; U=\(Self.reader) X=\(Self.owner)
        printf "wrong\\n$U\\ngr\\303\\274n\\n" > ../passwords; chmod 600 ../passwords
        lock() { name=$1; shift; qpdf --allow-weak-crypto report.pdf --encrypt "$@" -- $name.pdf; }
        lock r2 $U $X 40; lock r3 $U $X 128 --use-aes=n; lock r4 $U $X 128 --use-aes=y --cleartext-metadata
        lock r6 $U $X 256 --extract=n --modify=none; lock open '' $X 256 --extract=n
        lock latin "$(printf 'gr\\374n')" $X 128 --use-aes=y; lock other $U-2 $X 256
        mkdir both mixed
        qpdf report.pdf --pages . 1-2 -- --encrypt $U $X 256 --print=none -- both/a.pdf
        qpdf report.pdf --pages . 3 -- --encrypt $U $X 256 -- both/b.pdf; cp photo.png both/c.png
        cp both/a.pdf mixed; qpdf report.pdf --pages . 4 -- --encrypt gr\u{fc}n $X 256 -- mixed/b.pdf
        rm photo.png report.pdf
        """
      let made = try await shell(lines, scratch.path)
      #expect(made.status == 0 && made.errors == "", "\(made.errors)")
      try await body(scratch)
    }
  }

  private func say(_ lines: String, _ mount: MountProcess, _ scratch: MountScratch) async throws -> String {
    try await mount.shell("U=\(Self.reader) X=\(Self.owner) M=$O/made.pdf; \(lines)", scratch)
  }

  /// The first question about a folder comes before its listing.
  @Test func lockedFolderIsReportedBeforeItIsListed() async throws {
    try await withDocuments { scratch in
      var locked: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] + [UInt8](repeating: 0, count: 2040)
      for (index, byte) in "EncryptedPackage".utf8.enumerated() { locked[1024 + index * 2] = byte }
      try scratch.write("locked.docx", locked)
      try scratch.write("locked.xlsx", locked)
      try await withConverter(scratch) { mount in
        let said = try await say(
          """
          state() { getfattr --only-values -n user.ffmount.state $1; echo; }
          state other.pdf.pages; state open.pdf.pages
          why() { \(MountProcess.binary) why $1 | grep -oE '^state +[a-z]+|ffmount unlock|save a copy without one'; }
          why r4.pdf.pages; why locked.docx.as-txt; why locked.xlsx.sheets
          """, mount, scratch)
        #expect(
          said == """
            failed
            exact
            state   failed
            ffmount unlock
            state   failed
            save a copy without one
            state   failed
            save a copy without one

            """)
      }
    }
  }

  @Test func encryptionIsPreservedInDerivedDocuments() async throws {
    try await withDocuments { scratch in
      let lines = """
        same() {
          cat $2 > $M || echo $2 is not read; qpdf --check --password=$U $M > $O/said 2>&1 || cat $O/said
          diff <(qpdf --show-encryption --password=$U $S/$1) <(qpdf --show-encryption --password=$U $M)
          qpdf --requires-password $M || echo $2 is open
        }
        for f in r2 r3 r4 r6; do
          same $f.pdf $f.pdf.pages/003.pdf; same $f.pdf $f.compressed.pdf
          pdftotext -opw $X $f.pdf.pages/003.pdf - | grep Page; head -c 4 $f.pdf.as-png | tail -c 3; echo
        done
        cat latin.pdf.as-txt | head -n 1; cat r6.pdf.pages/002.pdf.as-jpeg | head -c 3 | od -An -tx1
        same both/a.pdf both.merged.pdf; qpdf --show-npages --password=$X $M
        cat mixed.merged.pdf; getfattr --only-values -n user.ffmount.error mixed.merged.pdf | cut -d' ' -f1-8
        """
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let said = try await say(lines, mount, scratch)
        #expect(
          said == String(repeating: "Page 3\nPNG\n", count: 4) + """
            Page 1
             ff d8 ff
            4
            cat: mixed.merged.pdf: Input/output error
            mixed: b.pdf is protected in another way than

            """)
      }
    }
  }

  @Test func textExtractionRequiresTheOwnerPassword() async throws {
    try await withDocuments { scratch in
      let lines = """
        cat open.pdf.as-txt r6.pdf.as-txt; getfattr --only-values -n user.ffmount.error open.pdf.as-txt; echo
        cat open.compressed.pdf | cmp - $S/open.pdf
        printf "$X\\n" >> $S/../passwords; cat open.pdf.as-txt r6.pdf.as-txt | grep -c Page
        """
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let said = try await say(lines, mount, scratch)
        #expect(
          said == """
            cat: open.pdf.as-txt: Permission denied
            cat: r6.pdf.as-txt: Permission denied
            open.pdf: allows no text extraction without its owner's password (-o password_file=FILE)
            24

            """)
      }
    }
  }

  @Test func changedPasswordFileIsReadAgain() async throws {
    try await withDocuments { scratch in
      let zip = try await shell(
        "cd \"$1\" && echo inside > in.txt && 7z a -tzip -mem=AES256 -plater source/a.zip in.txt > said", scratch.path)
      #expect(zip.status == 0, "\(zip.errors)")
      let lines = """
        cat a.zip.contents/in.txt; cat other.pdf.as-txt; ls r3.pdf.pages | wc -l
        printf "$U-2\\nlater\\n" > $O/new; chmod 600 $O/new; mv $O/new $S/../passwords
        cat a.zip.contents/in.txt; cat other.pdf.as-txt | head -n 1; cat r3.pdf.as-txt r3.pdf.pages/001.pdf | wc -c
        chmod 644 $S/../passwords; cat a.zip.contents/in.txt; cat other.pdf.as-txt
        chmod 600 $S/../passwords; cat other.pdf.as-txt | head -n 1
        """
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let said = try await say(lines, mount, scratch)
        #expect(
          said == """
            cat: a.zip.contents/in.txt: Permission denied
            cat: other.pdf.as-txt: Permission denied
            12
            inside
            Page 1
            cat: r3.pdf.as-txt: Permission denied
            cat: r3.pdf.pages/001.pdf: Permission denied
            0
            cat: a.zip.contents/in.txt: Permission denied
            cat: other.pdf.as-txt: Permission denied
            Page 1

            """)
      }
    }
  }

  @Test func cachedResultsRequireTheSamePassword() async throws {
    try await withDocuments { scratch in
      let read = "cat r3.pdf.as-txt r4.pdf.as-png r6.pdf.pages/001.pdf | wc -c"
      let options = "workers=2,password_file=\(scratch.path)/passwords"
      let first = try await withConverter(scratch, options) { mount in
        // No password is visible in processes or in the cache.
        let lines = """
          \(read); sleep .1; touch $O/made; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -ac '^\(Self.reader)$'
          """
        let said = try await say(lines, mount, scratch)
        #expect(!mount.daemon.saidSoFar.contains(Self.reader))
        return said
      }
      let second = try await withConverter(scratch, options) { mount in
        try await say(
          """
          \(read); ls r3.pdf.pages | wc -l
          find $O/../cache/ffmount/renditions -type f -newer $O/made ! -name key | wc -l
          """, mount, scratch)
      }
      let without = try await withConverter(scratch) { mount in
        try await say("\(read); ls r3.pdf.pages", mount, scratch)
      }
      let found = try await shell("grep -rla \(Self.reader) \"$1\" | grep -v '/passwords$'", scratch.path)
      #expect(found.text == "")
      #expect(
        without == """
          cat: r3.pdf.as-txt: Permission denied
          cat: r4.pdf.as-png: Permission denied
          cat: r6.pdf.pages/001.pdf: Permission denied
          0
          ls: cannot open directory 'r3.pdf.pages': Permission denied

          """)
      // The second mount found what the first one had made, and counted the pages again.
      #expect(first.hasSuffix("\n0\n") && second == first.dropLast(2) + "12\n0\n", "\(second)")
    }
  }
}
