import TestSupport
import Testing

/// Office documents that are encrypted with a password, through a mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EncryptedOfficeTests {
  private static let password = "rosebud-\u{fc}ber-alles"
  private static let names = [
    "agile.docx", "agile1.docx", "upper.docx", "standard.docx", "standard256.docx", "short.docx", "old.odt", "new.odt",
    "whole.odt",
  ]
  private static let needed =
    "requires a password, and no known password fits (-o password_file=FILE)"

  /// Makes the documents, and a password file in which another password comes first.
  private func withDocuments(_ body: (MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      // The number of rounds is that of a debug build's patience.
      try await scratch.make("make_encrypted_office.py", Self.password, "2000")
      _ = try await shell(
        "cd \"$1\"; printf 'wrong\\n%s\\n' \"$2\" > passwords; printf 'wrong\\n' > wrong; chmod 600 passwords wrong",
        scratch.path, Self.password)
      try await body(scratch)
    }
  }

  private static func read(_ names: [String], _ view: String = "as-txt") -> String {
    "for f in \(names.joined(separator: " ")); do cat $f.\(view) 2>&1 | sed 's/^cat: //'; done"
  }

  @Test func everyViewShowsTheDecryptedDocument() async throws {
    try await withDocuments { scratch in
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let lines = """
          \(Self.read(Self.names))
          ls whole.odt.contents agile.docx.contents; ls old.odt.contents
          for f in agile agile1 upper standard standard256; do
            cmp plain.docx.contents/word/media/noise.bin $f.docx.contents/word/media/noise.bin
          done
          cmp old.odt.contents/Pictures/'a & b.bin' new.odt.contents/Pictures/'a & b.bin'
          grep -c encryption-data new.odt.contents/META-INF/manifest.xml
          cat agile.docx.contents/word/document.xml | cmp - plain.docx.contents/word/document.xml
          cmp agile.docx $S/agile.docx; getfattr -n user.ffmount.state --only-values agile.docx.as-txt; echo
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == String(repeating: "Dear Anna, herring 4711\n", count: Self.names.count) + """
            agile.docx.contents:
            [Content_Types].xml
            _rels
            word

            whole.odt.contents:
            META-INF
            content.xml
            mimetype
            META-INF
            Pictures
            content.xml
            mimetype
            styles.xml
            0
            exact

            """)
      }
    }
  }

  /// CBC would decrypt changed bytes to others.
  @Test func changedEncryptedBytesAreNoticed() async throws {
    try await withDocuments { scratch in
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let lines = """
          cat changed.docx.as-txt 2>&1; ls changed.docx.contents 2>&1 | grep -o 'Input/output error'
          getfattr --only-values -n user.ffmount.error changed.docx.as-txt; echo
          for f in as-txt contents; do
            getfattr --only-values -n user.ffmount.state changed.docx.$f; echo
            "\(MountProcess.binary)" why changed.docx.$f | grep -o 'does not match.*'
          done
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            cat: changed.docx.as-txt: Input/output error
            Input/output error
            changed.docx: does not match the checksum of its encrypted bytes
            failed
            does not match the checksum of its encrypted bytes
            failed
            does not match the checksum of its encrypted bytes

            """, "\(said)")
      }
    }
  }

  @Test(.enabled(if: MountScratch.has("soffice"), "needs LibreOffice"))
  func pagesAreMadeOfTheDecryptedDocument() async throws {
    try await withDocuments { scratch in
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let said = try await mount.shell(
          "for f in agile.docx new.odt whole.odt; do pdftotext $f.as-pdf - | head -n 1; done", scratch)
        #expect(said == String(repeating: "Dear Anna, herring 4711\n", count: 3))
      }
    }
  }

  /// DOC and XLS are decrypted by LibreOffice.
  @Test(
    .enabled(
      if: MountScratch.has("soffice") && MountScratch.exists("/usr/lib/python3/dist-packages/uno.py"),
      "needs LibreOffice and python3-uno"))
  func olderDocumentsAreUnlocked() async throws {
    // They have at most 15 characters.
    let password = "rosebud-\u{fc}ber"
    try await withScratch { scratch in
      let made = try await shell(
        "/usr/bin/python3 \"$1\" \"$2\" \"$3\"", MountScratch.package + "/Tests/Scripts/make_encrypted_doc.py",
        scratch.source, password, limit: 100)
      try #require(made.status == 0, "\(made.errors)")
      try await withConverter(scratch, "workers=2") { mount in
        let lines = """
          unlock() { printf '%s\\n' "$1" | "\(MountProcess.binary)" unlock --stdin "$2" 2>&1 | sed "s|$PWD|.|g"; }
          grep -c herring letter.doc table.xls; \(Self.read(["letter.doc", "table.xls"]))
          getfattr --only-values -n user.ffmount.error letter.doc.as-pdf; echo
          unlock wrong letter.doc; unlock '\(password)' letter.doc; \(Self.read(["letter.doc", "table.xls"]))
          cat table.xls.sheets/Sheet1.csv; pdftotext letter.doc.as-pdf - | head -n 1
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            letter.doc:0
            table.xls:0
            letter.doc.as-txt: Permission denied
            table.xls.as-txt: Permission denied
            letter.doc: \(Self.needed)
            ffmount: cannot unlock letter.doc: the password does not open it
            letter.doc can be read until . is unmounted.
            Dear Anna, herring 4711
            Sheet1

            Dear Anna, herring 4711
            "Dear Anna, herring 4711"
            Dear Anna, herring 4711

            """, "\(said)")
      }
    }
  }

  /// LibreOffice gives up on a DOC after one wrong password.
  @Test(
    .enabled(
      if: MountScratch.has("soffice") && MountScratch.exists("/usr/lib/python3/dist-packages/uno.py"),
      "needs LibreOffice and python3-uno"))
  func allPasswordsAreTriedOnOlderDocuments() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        "/usr/bin/python3 \"$1\" \"$2\" rosebud", MountScratch.package + "/Tests/Scripts/make_encrypted_doc.py",
        scratch.source, limit: 100)
      try #require(made.status == 0, "\(made.errors)")
      _ = try await shell("cd \"$1\"; printf 'one\\ntwo\\nrosebud\\n' > p; chmod 600 p", scratch.path)
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/p") { mount in
        let said = try await mount.shell(Self.read(["letter.doc", "table.xls"]), scratch)
        #expect(said == "Dear Anna, herring 4711\nSheet1\n\nDear Anna, herring 4711\n", "\(said)")
      }
    }
  }

  /// The decrypted document is merged, and its pages are in no cache.
  @Test(.enabled(if: MountScratch.has("soffice"), "needs LibreOffice"))
  func encryptedDocumentsAreMerged() async throws {
    try await withDocuments { scratch in
      _ = try await shell("cd \"$1\"; mkdir d; mv new.odt d/a.odt; mv agile.docx d/b.docx", scratch.source)
      let said = try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        try await mount.shell(
          "pdftotext d.merged.pdf - | grep -c herring; pdftotext d/a.odt.as-pdf - | grep -c herring", scratch)
      }
      #expect(said == "2\n1\n", "\(said)")
      let found = try await shell(
        "find \"$1\" -name mnt -prune -o -type f -size +3k -print | while read f; do pdftotext \"$f\" - 2>&1 | grep herring; done",
        scratch.path + "/cache")
      #expect(found.text == "", "\(found.text)")
      let without = try await withConverter(scratch, "workers=2") { mount in
        try await mount.shell(
          "cat d.merged.pdf; getfattr --only-values -n user.ffmount.error d.merged.pdf; echo", scratch)
      }
      #expect(without == "cat: d.merged.pdf: Permission denied\nd: a.odt \(Self.needed)\n", "\(without)")
    }
  }

  @Test func missingPasswordIsASentence() async throws {
    try await withDocuments { scratch in
      for options in ["workers=2", "workers=2,password_file=\(scratch.path)/wrong"] {
        try await withConverter(scratch, options) { mount in
          let lines = """
            for f in \(Self.names.joined(separator: " ")) other.docx; do
              for v in as-txt contents; do
                [ $v = contents ] && { ls $f.$v/ 2>&1 | grep -c denied; continue; }
                cat $f.$v 2>&1 | grep -c denied
                getfattr --only-values -n user.ffmount.error $f.$v; echo
              done
            done
            for f in rc4.docx slow.docx greedy.odt; do
              cat $f.as-txt 2>&1 | grep -c denied; getfattr --only-values -n user.ffmount.error $f.as-txt; echo
            done
            cat plain.docx.as-txt plain.odt.as-txt; ls agile.docx.messages 2>&1 | grep -c 'No such'
            """
          let said = try await mount.shell(lines, scratch)
          let unsupported = "is encrypted with a password in a way that is not supported"
          #expect(
            said == (Self.names + ["other.docx"]).map { "1\n\($0): \(Self.needed)\n1\n" }.joined() + """
              1
              rc4.docx: \(unsupported): RC4
              1
              slow.docx: \(unsupported): more than 1000000 rounds for a password
              1
              greedy.odt: \(unsupported): a key that takes more than 256 MiB or about a second
              Dear Anna, herring 4711
              Dear Anna, herring 4711
              1

              """)
        }
      }
    }
  }

  @Test func passwordIsGivenToARunningMount() async throws {
    try await withDocuments { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        let lines = """
          B=\(MountProcess.binary)
          unlock() { printf '%s\\n' "$1" | "$B" unlock --stdin "$2" 2>&1 | sed "s|$PWD|.|g"; }
          \(Self.read(["agile.docx", "new.odt"])); ls whole.odt.contents 2>&1 | grep -c denied
          unlock wrong agile.docx; \(Self.read(["agile.docx"])); unlock '\(Self.password)' agile.docx
          \(Self.read(["agile.docx", "new.odt", "other.docx"])); ls whole.odt.contents | wc -l
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            agile.docx.as-txt: Permission denied
            new.odt.as-txt: Permission denied
            1
            ffmount: cannot unlock agile.docx: the password does not open it
            agile.docx.as-txt: Permission denied
            agile.docx can be read until . is unmounted.
            Dear Anna, herring 4711
            Dear Anna, herring 4711
            other.docx.as-txt: Permission denied
            3

            """)
      }
    }
  }

  /// A password that is no longer in the file closes what it opened.
  @Test func removedPasswordLocksTheDocument() async throws {
    try await withDocuments { scratch in
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let lines = """
          \(Self.read(["agile.docx"])); wc -c < agile.docx.contents/word/media/noise.bin
          cp -p $S/../wrong $S/../passwords; sleep 1
          \(Self.read(["agile.docx"])); cat agile.docx.contents/_rels/.rels 2>&1 | grep -c denied
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            Dear Anna, herring 4711
            9000
            agile.docx.as-txt: Permission denied
            1

            """)
      }
    }
  }

  /// Neither indexes nor caches have a text that a password protects, and no later mount shows it without one.
  @Test func nothingThatWasDecryptedIsStored() async throws {
    try await withDocuments { scratch in
      let options = "workers=2,password_file=\(scratch.path)/passwords"
      let first = try await withConverter(scratch, options) { mount in
        try await mount.shell(
          """
          touch $O/made; sleep .1; rm -f $S/plain.*; \(Self.read(["agile.docx", "new.odt", "whole.odt"]))
          ls .find/herring/ 2>&1 | wc -l
          """, scratch)
      }
      #expect(first.hasPrefix(String(repeating: "Dear Anna, herring 4711\n", count: 3)), "\(first)")
      let found = try await shell(
        "grep -rlaE 'herring|\(Self.password)' \"$1\" --exclude-dir=mnt | grep -vE '/passwords$'", scratch.path)
      #expect(found.text == "")
      let without = try await withConverter(scratch) { mount in
        try await mount.shell(Self.read(["agile.docx", "new.odt"]), scratch)
      }
      #expect(without == "agile.docx.as-txt: Permission denied\nnew.odt.as-txt: Permission denied\n")
    }
  }

  /// The index of a folder in the mount, and results of a second mount of it, outlive the password as well.
  @Test func searchesOfTheMountStoreNothingDecrypted() async throws {
    try await withDocuments { scratch in
      let make = """
        cd "$1"; echo 'letter herring' > in.txt; zip -qP "$2" locked.zip in.txt; rm in.txt; mkdir ../again
        """
      let made = try await shell(make, scratch.source, Self.password)
      try #require(made.status == 0, "\(made.errors)")
      let options = "workers=2,password_file=\(scratch.path)/passwords"
      let said = try await withConverter(scratch, options) { mount in
        try await mount.shell(
          """
          rm -f $S/plain.*; B=\(MountProcess.binary); export XDG_CACHE_HOME=$S/../other
          "$B" search -l . herring 2>&1 | sed "s|$PWD|.|g"; "$B" search -l locked.zip.contents herring 2>&1
          "$B" . $S/../again && cat $S/../again/locked.zip.contents/in.txt $S/../again/whole.odt.as-txt
          ls $S/../again/.search/herring | grep -c txt; "$B" -u $S/../again
          """, scratch)
      }
      #expect(
        said.hasSuffix("locked.zip.contents/in.txt\nletter herring\nDear Anna, herring 4711\n1\n"), "\(said)")
      #expect(!said.contains("docx") && said.contains("files are locked"), "\(said)")
      let found = try await shell("grep -rlaE 'herring' \"$1\"", scratch.path + "/other")
      #expect(found.text == "", "\(found.text)")
    }
  }

  /// Documents in archives and in mail, and those of no known name.
  @Test func nestedDocumentsAreDecrypted() async throws {
    try await withDocuments { scratch in
      _ = try await shell(
        "cd \"$1\"; cp agile.docx unnamed; zip -q in.zip new.odt standard.docx", scratch.source)
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let said = try await mount.shell(
          "cat unnamed.as-txt in.zip.contents/new.odt.as-txt in.zip.contents/standard.docx.as-txt", scratch)
        #expect(said == String(repeating: "Dear Anna, herring 4711\n", count: 3))
      }
    }
  }

  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func anotherUserSeesWhatPermissionsAllow() async throws {
    try await withDocuments { scratch in
      let lines = """
        cd "$1"; chmod 755 . source; chmod 644 source/*; chmod 600 source/new.odt; cp "$2" ffmount; chmod 755 ffmount
        export HOME=$1 XDG_CACHE_HOME=$1/cache
        as() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@" 2>&1; }
        as ./ffmount --version >/dev/null || exit 90
        "$2" -o allow_other source mnt 2>/dev/null || exit 91
        as ls mnt/agile.docx.contents mnt/new.odt.contents
        echo '\(Self.password)' | as "$2" unlock --stdin mnt/agile.docx | head -c 60; echo
        echo '\(Self.password)' | "$2" unlock --stdin mnt/agile.docx >/dev/null
        as ls mnt/agile.docx.contents mnt/new.odt.contents; "$2" -u mnt
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary)
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      if [90, 91].contains(said.status) { try Test.cancel("another user may not run or mount here: \(said.text)") }
      #expect(
        said.lines == [
          "ls: cannot open directory 'mnt/agile.docx.contents': Permission denied",
          "ls: cannot open directory 'mnt/new.odt.contents': Permission denied",
          "ffmount: cannot unlock mnt/agile.docx: mounted by another us",
          "mnt/agile.docx.contents:", "[Content_Types].xml", "_rels", "word",
          "ls: cannot open directory 'mnt/new.odt.contents': Permission denied",
        ], "\(said.text)\(said.errors)")
    }
  }
}
