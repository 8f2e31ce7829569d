import Foundation
import Glibc
import TestSupport
import Testing

/// Archives with wrong checksums: every member that is read without an error is what was packed.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DamagedArchiveTests {
  @Test func wrongMemberContentAlwaysCausesAnError() async throws {
    try await withScratch { scratch in
      try await script("damaged_archives.py", "make", scratch.source, scratch.path + "/originals")
      for round in 0..<2 {
        try await withMount(scratch) { mount in
          let said = try await mount.shell("python3 -B \"$T/damaged_archives.py\" check \"$S\" .", scratch, limit: 100)
          #expect(said == "some are right\n", "round \(round)")
        }
      }
    }
  }

  private static let make = """
    cd "$1/source"; seq 20000 > ../one; seq 30000 60000 > ../two
    tar -C .. -cf - one two | gzip > good.tar.gz; cp good.tar.gz bad.tar.gz
    python3 - bad.tar.gz <<'P'
    import sys
    with open(sys.argv[1], "r+b") as file:
        file.seek(-8, 2); byte = file.read(1); file.seek(-8, 2); file.write(bytes([byte[0] ^ 1]))
    P
    gzip -c ../one > one.gz; head -c 90000 good.tar.gz > ../cut.tar.gz; mkdir deep; zip -q -0 deep/outer.zip bad.tar.gz good.tar.gz; echo text > deep/text
    """

  @Test func damageIsReportedAndReadableOnRequest() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let look = """
        cat bad.tar.gz.contents/one 2>> $O/errors | wc -c
        for f in bad.tar.gz.contents/one good.tar.gz.contents/one; do
          getfattr --only-values -n user.ffmount.state $f; echo
        done
        """
      try await withMount(scratch) { mount in
        #expect(try await mount.shell(look, scratch) == "0\nfailed\nexact\n")
        let ask = "getfattr --only-values -n user.ffmount.error bad.tar.gz.contents/two"
        let why = try await mount.shell(ask, scratch)
        #expect(why.contains("expected CRC-32") && why.contains("at byte"), "\(why)")
      }
      try await withMount(scratch, options: ["-o", "damaged=show"]) { mount in
        let shown = try await mount.shell(look, scratch)
        #expect(shown == "108894\nunverified\nexact\n")
      }
    }
  }

  /// A message that was cut, in a file of its own and at the end of a mailbox, and an archive attached to one.
  @Test func verifyReadsMessages() async throws {
    try await withScratch { scratch in
      let head =
        "From: a@b.c\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment; filename="
      func mail(_ name: String, _ bytes: [UInt8], lost: Int) -> String {
        let text = Data(bytes).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
        let end = lost == 0 ? "\n--b--\n" : ""
        return head + name + "\nContent-Transfer-Encoding: base64\n\n" + text.dropLast(lost) + end
      }
      let bytes = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 151) }
      let (good, cut) = (mail("f", bytes, lost: 0), mail("f", bytes, lost: 6))
      var zip = ZipFixture(ZipFixtureEntry("in.txt", "inside")).bytes()
      zip[40] ^= 1
      try scratch.write("good.eml", good)
      try scratch.write("cut.eml", cut)
      try scratch.write("zip.eml", mail("z.zip", zip, lost: 0))
      let separator = "From a@b.c Mon Jan  2 10:00:00 2023\n"
      try scratch.write("in.mbox", separator + good + "\n" + separator + cut)
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let found = try await MountChild([MountProcess.binary, "verify", scratch.source], environment: environment).wait(
        atMost: 30)
      let place = 2 * separator.utf8.count + good.utf8.count + 1 + cut.utf8.count
      let reason = "expected four characters of base64, found the end of the mail"
      #expect(found.status == 1 && found.lines.count == 3, "\(found.text)\(found.errors)")
      #expect(found.text.contains("cut.eml: \(reason) (at byte \(cut.utf8.count))"), "\(found.text)")
      #expect(found.text.contains("in.mbox: \(reason) (at byte \(place))"), "\(found.text)")
      #expect(found.text.contains("z.zip.contents/in.txt: expected CRC-32"), "\(found.text)")
    }
  }

  @Test func verifyFindsDamageAtAnyDepth() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      func verify(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary, "verify"] + words, environment: environment).wait(atMost: 30)
      }
      let all = try await verify(scratch.source)
      #expect(all.status == 1, "\(all.errors)")
      let paths = all.lines.map { $0.split(separator: ":").first.map(String.init) ?? "" }.sorted()
      let bad = ["bad.tar.gz.contents", "bad.tar.gz.contents/one", "bad.tar.gz.contents/two"]
      #expect(
        paths
          == (bad.map { "\(scratch.source)/\($0)" } + bad.map { "\(scratch.source)/deep/outer.zip.contents/\($0)" })
          .sorted())
      #expect(all.errors.contains("6 damaged"), "\(all.errors)")
      let json = try await verify("--json", scratch.source + "/bad.tar.gz")
      #expect(json.status == 1 && json.text.contains("\"withoutChecksum\": 0"), "\(json.text)")
      // The first member is there, but the checksum is not.
      let cut = try await verify("--json", scratch.path + "/cut.tar.gz")
      #expect(
        cut.status == 1 && cut.text.contains("\"withoutChecksum\": 0") && cut.text.contains("\"unverified\": 1"),
        "\(cut.text)")
      let good = try await verify(scratch.source + "/good.tar.gz")
      #expect(good.status == 0 && good.text.isEmpty && good.errors.contains("none is damaged"), "\(good.errors)")
      let none = try await verify(scratch.source + "/deep/text")
      #expect(none.status == 65 && none.errors.contains("not an archive"), "\(none.errors)")
    }
  }

  @Test func partiallyReadEntriesAreUnverified() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1"; python3 -c "import random; random.seed(1); open('big', 'wb').write(random.randbytes(1 << 20) * 6)"
        echo secret > password; chmod 600 password
        zip -q -0 source/stored.zip big; zip -q source/deflated.zip big; (7z a -tzip -mm=LZMA source/lzma.zip big
        7z a -tzip -psecret -mem=AES256 source/locked.zip big) > 7z.txt; zip -q -0 source/outer.zip source/deflated.zip
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "password_file=\(scratch.path)/password"]) { mount in
        let said = try await mount.shell(
          """
          for a in stored.zip deflated.zip lzma.zip locked.zip outer.zip.contents/source/deflated.zip; do
            f=$a.contents/big; state() { getfattr --only-values -n user.ffmount.state $f; echo -n " "; }
            state; head -c 1000 $f > $O/part; state; dd if=$f of=$O/part bs=4096 skip=1000 count=1 status=none; state
            cmp $f "$2/big"; state; head -c 1000 $f > $O/part; state; echo
          done
          """, scratch)
        #expect(said == String(repeating: "exact unverified unverified exact exact \n", count: 5))
      }
    }
  }

  @Test func membersBeforeDamagedBzip2BlockAreRead() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1/source"; python3 - <<'P'
        import bz2, io, random, tarfile
        random.seed(3)
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w") as archive:
            for number in range(12):
                member = tarfile.TarInfo(f"f{number:02}")
                member.size = 60000
                archive.addfile(member, io.BytesIO(random.randbytes(60000)))
        packed = bytearray(bz2.compress(output.getvalue(), 1))
        packed[len(packed) // 2] ^= 1
        open("a.tar.bz2", "wb").write(packed)
        P
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          for f in a.tar.bz2.contents/*; do
            cat $f > $O/bytes 2>> $O/errors && echo -n "read " || echo -n "fails "
            echo ${f#*/} $(getfattr --only-values -n user.ffmount.state $f)
          done
          getfattr --only-values -n user.ffmount.error a.tar.bz2.contents
          """, scratch)
        let lines = said.split(separator: "\n")
        #expect(
          lines.dropLast() == [
            "read f00 exact", "read f01 exact", "read f02 exact", "read f03 exact", "fails f04 failed",
          ])
        #expect(
          lines.last?.hasPrefix("a.tar.bz2: ends within f04: expected a bzip2 block, found damage") == true, "\(said)")
      }
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let found = try await MountChild([MountProcess.binary, "verify", scratch.source], environment: environment)
        .wait(atMost: 30)
      #expect(
        found.status == 1 && found.lines.count == 2 && found.text.contains("a.tar.bz2.contents/f04: ")
          && found.text.contains("a.tar.bz2.contents: "), "\(found.text)")
    }
  }

  /// The name of such an archive's view is too long to be listed.
  /// libarchive compares the checksum of the header at the end only.
  @Test func wrongHeadersOf7zAreReported() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1/source"; seq 2000 > ../one; 7z a -bd -mhc=off good.7z ../one > /dev/null
        python3 - <<'P'
        good = open("good.7z", "rb").read()
        name = "one".encode("utf-16-le")
        for file, place in ("start.7z", 9), ("end.7z", good.rindex(name)):
            bad = bytearray(good)
            bad[place] ^= 1
            open(file, "wb").write(bad)
        P
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let said = try await MountChild(
        [MountProcess.binary, "verify", scratch.source], environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]
      ).wait(atMost: 30)
      #expect(said.status == 1 && said.lines.count == 2, "\(said.text)\(said.errors)")
      for name in ["start", "end"] { #expect(said.text.contains("\(name).7z.contents: "), "\(said.text)") }
      try await withMount(scratch) { mount in
        let look =
          "cmp start.7z.contents/one \"$S/../one\" && getfattr --only-values -n user.ffmount.error start.7z.contents"
        let shown = try await mount.shell(look, scratch)
        #expect(shown.contains("does not match the checksum of its header"), "\(shown)")
      }
    }
  }

  @Test func verifyReadsArchivesWithLongNames() async throws {
    try await withScratch { scratch in
      let name = String(repeating: "z", count: 247) + ".zip"
      try scratch.write(name, ZipFixture(ZipFixtureEntry("inside", "text")))
      for path in [scratch.source, scratch.source + "/" + name] {
        let said = try await MountChild(
          [MountProcess.binary, "verify", path], environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]
        ).wait(atMost: 30)
        #expect(said.status == 0 && said.errors.contains("1 file read"), "\(said.errors)")
      }
    }
  }

  /// The trailer of the last gzip member has a checksum, and a size.
  @Test func singleFileWithWrongTrailerIsShownOnRequest() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1/source"; seq 2000 > x; for field in 4 8; do
          gzip -c x > $field.gz; printf '\\377' | dd of=$field.gz bs=1 seek=$(($(stat -c %s $field.gz) - field)) conv=notrunc
        done
        """, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "damaged=show"]) { mount in
        let look = """
          for field in 4 8; do
            cmp x $field.gz.contents/$field && getfattr --only-values -n user.ffmount.state $field.gz.contents/$field; echo
          done
          """
        let shown = try await mount.shell(look, scratch)
        #expect(shown == "unverified\nunverified\n")
      }
    }
  }

  /// Poppler and libqpdf pass over contents that do not match their checksum, and over lost ones.
  @Test func lostContentsOfPagesAreReported() async throws {
    try await withScratch { scratch in
      try await script("damaged_contents.py", scratch.source)
      try await withMount(scratch) { mount in
        let look = """
          state() { getfattr --only-values -n user.ffmount.state $1; echo; }
          for f in data lost; do
            for v in as-txt as-html; do
              cat $f.pdf.$v | grep -o third | wc -l; state $f.pdf.$v
              getfattr --only-values -n user.ffmount.remark $f.pdf.$v; echo
            done
          done
          getfattr --only-values -n user.ffmount.remark lost.pdf.pages; echo
          for f in sound objects; do cat $f.pdf.as-txt > $O/text; state $f.pdf.as-txt; done
          for page in data.pdf.pages/001 data.pdf.pages/002; do
            cat $page.pdf.as-png > $O/p; state $page.pdf.as-png; getfattr --only-values -n user.ffmount.remark $page.pdf.as-png 2> $O/e
          done; echo
          for f in zeros cut; do
            cat $f.pdf.as-txt 2> $O/e | grep -o second | wc -l; state $f.pdf.as-txt
            for page in 001 002; do cat $f.pdf.pages/$page.pdf.as-png > $O/p; state $f.pdf.pages/$page.pdf.as-png; done
          done 2> $O/e
          """
        let said = try await mount.shell(look, scratch)
        let part = "data.pdf is damaged: page 2 cannot be read completely\n"
        let lost = "lost.pdf is damaged: page 2 cannot be read"
        let expected =
          "79\nfailed\n\(part)79\nfailed\n\(part)79\nfailed\n\(lost)\n79\nfailed\n\(lost) completely\n"
          + "\(lost) completely\nexact\nfailed\nexact\nfailed\n"
          + "data.pdf.pages/002.pdf is damaged: page 1 cannot be read completely\n"
          + "0\nfailed\nexact\nfailed\n0\nfailed\nfailed\nfailed\n"
        #expect(said == expected, "\(said)")
      }
    }
  }

  @Test func textOfDocumentLacksDamagedPageOnly() async throws {
    try await withScratch { scratch in
      try await script("damaged_page.py", scratch.source + "/p.pdf")
      for (view, ext) in [("as-txt", "txt"), ("as-html", "html")] {
        let said = try await shell(
          "cd \"$1\"; XDG_CACHE_HOME=$1/cache \"$2\" save \(view) source/p.pdf --to . && grep -cE 'first|third' p.\(ext)",
          scratch.path, MountProcess.binary)
        #expect(
          said.lines.last == "2" && said.errors.contains("is damaged: page 3 cannot be read"),
          "\(said.text)\(said.errors)")
      }
    }
  }

  /// The folder of pages says that some may be missing, also in a later mount.
  @Test func lostListOfPagesIsTold() async throws {
    try await withScratch { scratch in
      let page = "3 0 obj\n<< /Type /Page /MediaBox [0 0 90 90] >>\nendobj\n"
      try scratch.write("cut.pdf", "%PDF-1.4\n\(page)4 0 obj\n<< /Ty")
      try await script("make_documents.py", scratch.source)
      for _ in 0..<2 {
        try await withConverter(scratch) { mount in
          let look = """
            for f in cut report; do ls $f.pdf.pages | head -1; getfattr --only-values -n user.ffmount.remark $f.pdf.pages 2>&1; done
            """
          let said = try await mount.shell(look, scratch)
          let remark = "cut.pdf is damaged: its list of pages is lost, and only the pages that were found are shown"
          #expect(
            said.hasPrefix("001.pdf\n\(remark)001.pdf\nreport.pdf.pages: user.ffmount.remark: No such"), "\(said)")
        }
      }
    }
  }

  /// What is not read is never counted as sound: the files of a mount, those of others, and mounts below a folder.
  @Test func verifyNamesWhatItDoesNotRead() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      func verify(_ path: String, as user: [String] = []) async throws -> MountChild.Result {
        let words = user + [MountProcess.binary, "verify", path]
        return try await MountChild(words, environment: environment).wait(atMost: 30)
      }
      try await withMount(scratch) { mount in
        for path in ["", "/bad.tar.gz", "/bad.tar.gz.contents", "/deep/outer.zip.contents/bad.tar.gz"] {
          let said = try await verify(mount.mountpoint + path)
          let original =
            scratch.source + (path.hasPrefix("/deep") ? "/deep/outer.zip" : path.isEmpty ? "" : "/bad.tar.gz")
          #expect(
            said.status == 65 && said.errors.contains("in a mount of ffmount (type: ffmount verify \(original))"),
            "\(path): \(said.errors)")
        }
        let parent = try await verify(scratch.path)
        #expect(parent.status == 1)
        #expect(parent.text.contains("\(mount.mountpoint): a mount of ffmount, which is not read"), "\(parent.text)")
      }
      guard getuid() == 0 else { return }
      let stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
      let hidden = try await shell(
        "mkdir $1/p; cp $1/source/one.gz $1/p; chmod 711 $1; chmod 755 $1/p; chmod 600 $1/p/*", scratch.path)
      try #require(hidden.status == 0)
      let said = try await verify(scratch.path + "/p", as: stranger)
      #expect(said.status == 1 && said.text.contains("/p/one.gz: Permission denied"), "\(said.text)\(said.errors)")
    }
  }

  /// What a missing program would read is not called sound.
  @Test func verifyNamesWhatNoInstalledProgramReads() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1"; seq 2000 > one; 7z a -bd source/a.7z one > /dev/null; zip -q -0 source/outer.zip source/a.7z
        mkdir bin; for f in "${2%/*}"/ff*; do
          [ ! -f $f ] || [ ! -x $f ] || [ ${f##*/} = ffarchive ] || [ ${f##*/} = ffdisk ] || ln -s "$f" bin/
        done; rm bin/ffmount; cp "$2" bin/
        """, scratch.path, MountProcess.binary)
      try #require(made.status == 0, "\(made.errors)")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let said = try await MountChild(
        [scratch.path + "/bin/ffmount", "verify", scratch.source], environment: environment
      )
      .wait(atMost: 30)
      #expect(said.status == 1 && said.lines.count == 2, "\(said.text)\(said.errors)")
      for path in ["a.7z", "outer.zip.contents/source/a.7z"] {
        #expect(said.text.contains("/\(path): not verified: ffarchive"), "\(said.text)")
      }
      // What such a program finds later is added to the index of a search.
      func search(_ program: String) async throws -> MountChild.Result {
        try await MountChild([program, "search", scratch.source, "1999"], environment: environment).wait(atMost: 60)
      }
      let before = try await search(scratch.path + "/bin/ffmount")
      #expect(before.status == 1 && before.errors.contains("2 files or folders could not be read completely"))
      let after = try await search(MountProcess.binary)
      #expect(after.status == 0 && after.lines.count == 2, "\(after.text)\(after.errors)")
    }
  }

  @Test func reasonsNameTheFormatThatTheNamePromises() async throws {
    try await withScratch { scratch in
      for name in ["n.gz", "n.xz", "n.zst", "n.bz2", "n.tar"] { try scratch.write(name, "no such data\n") }
      let found = try await MountChild(
        [MountProcess.binary, "verify", scratch.source], environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]
      ).wait(atMost: 30)
      #expect(found.status == 1)
      for reason in [
        "n.gz.contents: expected gzip data (at byte 0)", "n.tar.contents: expected the header of a TAR archive",
      ] {
        #expect(found.text.contains(reason), "\(found.text)")
      }
      #expect(!found.text.contains("ZIP") && !found.text.contains("central directory"), "\(found.text)")
    }
  }

  @Test func verifyRecognizesArchivesByContent() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1/source"; seq 20000 > ../f; zip -q -0 good.docx ../f; zip -q good.epub ../f; zip -q archive ../f
        mv archive.zip archive; for f in good.docx good.epub; do cp $f bad${f#good}; done
        python3 - bad.docx bad.epub <<'P'
        import sys
        for name in sys.argv[1:]:
            with open(name, "r+b") as file:
                file.seek(5000); byte = file.read(1); file.seek(5000); file.write(bytes([byte[0] ^ 1]))
        P
        mkdir -p M/cur M/new M/tmp; zip -q -0 outer.zip bad.docx
        python3 - bad.docx > M/cur/1.2.h:2,S <<'P'
        import email.message, sys
        message = email.message.EmailMessage()
        message["From"], message["Subject"] = "a@b", "backup"
        message.set_content("text")
        with open(sys.argv[1], "rb") as file:
            message.add_attachment(file.read(), maintype="application", subtype="octet-stream", filename="a.docx")
        sys.stdout.write(message.as_string())
        P
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let said = try await MountChild([MountProcess.binary, "verify", scratch.source], environment: environment)
        .wait(atMost: 30)
      #expect(said.status == 1, "\(said.errors)")
      let bad = said.lines.compactMap { line in
        line.split(separator: ": ").first?.dropFirst(scratch.source.utf8.count + 1)
      }
      try #require(bad.count == 4, "\(said.text)")
      #expect(
        bad.sorted()[1...] == [
          "bad.docx.contents/f", "bad.epub.contents/f", "outer.zip.contents/bad.docx.contents/f",
        ])
      #expect(
        bad.sorted()[0].hasPrefix("M.messages/") && bad.sorted()[0].hasSuffix("/attachments/a.docx.contents/f"),
        "\(bad)")
      let folder = try await MountChild(
        [MountProcess.binary, "verify", scratch.source + "/M"], environment: environment
      )
      .wait(atMost: 30)
      #expect(folder.status == 1 && folder.lines.count == 1, "\(folder.text)\(folder.errors)")
    }
  }

  @Test func checksumsOfStoredFilesAreVerified() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1/source"; seq 3000 > ../f; (cd ..; echo f | cpio -o -H crc 2> /dev/null) > good.cpio
        for a in good.cpio; do
          python3 -c 'import sys; b = bytearray(sys.stdin.buffer.read()); b[3000] ^= 1; sys.stdout.buffer.write(b)' < $a > bad.cpio
        done
        python3 - <<'P'
        import zlib
        def number(value):
            data = b""
            while value > 127: data, value = data + bytes([value & 127 | 128]), value >> 7
            return data + bytes([value])
        def header(content): 
            body = number(len(content)) + content
            return zlib.crc32(body).to_bytes(4, "little") + body
        data = open("../f", "rb").read()
        for name, plain in [("good", data), ("bad", b"X" + data[1:])]:
            file = b"".join(map(number, [2, 2, len(data), 4, len(data), 0o100644])) + zlib.crc32(data).to_bytes(4, "little")
            file += number(0) + number(1) + number(1) + b"f"
            archive = b"Rar!\\x1a\\x07\\x01\\0" + header(number(1) + number(0) + number(0)) + header(file) + plain
            open(name + "5.rar", "wb").write(archive + header(number(5) + number(0) + number(0)))
        P
        gzip -k bad.cpio; gzip -k good.cpio; gzip -c good.cpio > wrong.cpio.gz
        python3 - <<'P'
        with open("wrong.cpio.gz", "r+b") as file:
            file.seek(-8, 2); byte = file.read(1); file.seek(-8, 2); file.write(bytes([byte[0] ^ 1]))
        P
        """
      let made = try await shell(make, scratch.path, MountScratch.package + "/Tests/Scripts")
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          for a in good.cpio good.cpio.gz good5.rar bad.cpio bad.cpio.gz wrong.cpio.gz bad5.rar; do
            if cat $a.contents/f > $O/f 2>> $O/errors; then cmp $O/f "$2/f" && echo $a is read
            else echo $a $(getfattr --only-values -n user.ffmount.state $a.contents/f); fi
          done
          """, scratch)
        #expect(
          said == """
            good.cpio is read
            good.cpio.gz is read
            good5.rar is read
            bad.cpio failed
            bad.cpio.gz failed
            wrong.cpio.gz failed
            bad5.rar failed

            """)
      }
    }
  }
}
