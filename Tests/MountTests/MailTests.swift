import Glibc
import TestSupport
import Testing

/// Mailboxes through the mount: their contents, and common uses.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailTests {
  @Test(arguments: ["rd", "o", "takeout", "thunderbird"], ["lf", "crlf"])
  func mailboxShowsAllItsMessages(_ style: String, _ ending: String) async throws {
    try await withScratch { scratch in
      let (archive, truth) = (scratch.source + "/a.mbox", scratch.path + "/truth")
      try await script("make_mail.py", style, ending, "100", "\(style.count)", archive, truth)
      try await withMount(scratch, options: ["-o", "views=-pdf:-as-pdf"]) { mount in
        let shown = mount.mountpoint + "/a.mbox.messages"
        // Python's mailbox module supports only the formats with quoting.
        if style.count < 3 {
          try await script("check_mail.py", shown, archive, truth, "python")
        } else {
          try await script("check_mail.py", shown, archive, truth)
        }
      }
    }
  }

  /// Otherwise a comparison that compares nothing would pass, too.
  @Test func mailComparisonDetectsDifferences() async throws {
    try await withScratch { scratch in
      let (archive, truth) = (scratch.source + "/a.mbox", scratch.path + "/truth")
      try await script("make_mail.py", "rd", "lf", "30", "1", archive, truth)
      try await withMount(scratch, options: ["-o", "views=-pdf:-as-pdf"]) { mount in
        let shown = mount.mountpoint + "/a.mbox.messages"
        for change in [
          "s/\"sha1\": \"./\"sha1\": \"x/", "s/\"date\": 1/\"date\": 2/", "s/Anna/Anne/", "s/plain text/text/",
        ] {
          _ = try await shell("sed \"$1\" \"$2\" >\"$2.bad\"", change, truth)
          await #expect(throws: MountChild.Failure.self) {
            try await script("check_mail.py", shown, archive, truth + ".bad")
          }
        }
        _ = try await shell("(head -c 3000 \"$1\"; echo; tail -c +3002 \"$1\") >\"$2\"", archive, scratch.path + "/bad")
        await #expect(throws: MountChild.Failure.self) {
          try await script("check_mail.py", shown, scratch.path + "/bad")
        }
      }
    }
  }

  /// Common tools see the same tree as a real folder that was copied from it.
  @Test func toolsSeeAnOrdinaryTree() async throws {
    try await withScratch { scratch in
      try await script("make_mail.py", "rd", "lf", "60", "5", scratch.source + "/a.mbox")
      // Attachments named as PDFs are not PDFs, and their pages cannot be copied; nor is what is named so compressed.
      try await withMount(scratch, options: ["-o", "views=-pdf:-as-pdf:-gz"]) { mount in
        let copy = scratch.path + "/copy"
        let copied = try await shell("cp -a \"$1/a.mbox.messages\" \"$2\"", mount.mountpoint, copy)
        #expect(copied.status == 0, "\(copied.errors)")
        for line in [
          "find . -printf '%p %y %s %T@\\n' | sort | grep -v ' d '",
          "tar --sort=name --numeric-owner -c . | tar -t | sort",
          "grep -rc e . | sort", "grep -rl 'From me to you' . | sort",
          "find . -type f -print0 | sort -z | xargs -0 sha1sum",
          "find . -type f -print0 | xargs -0 wc -c | sort", "tar -c . | tar -x -O | sha1sum",
        ] where line.contains("sort") {
          let lines = "export LC_ALL=C.UTF-8; cd \"$1\" && \(line)"
          let mounted = try await shell(lines, mount.mountpoint + "/a.mbox.messages")
          let native = try await shell(lines, copy)
          #expect(!native.bytes.isEmpty && native.errors == mounted.errors, "\(line): \(mounted.errors)")
          #expect(native.text == mounted.text, "\(line)")
        }
        let rsync = "rsync -a --checksum --itemize-changes \"$1/a.mbox.messages/\" \"$2\""
        let first = try await shell(rsync, mount.mountpoint, scratch.path + "/rsync")
        #expect(first.status == 0 && first.lines.count > 200, "\(first.errors)")
        let second = try await shell(rsync, mount.mountpoint, scratch.path + "/rsync")
        #expect(second.status == 0 && second.text == "", "\(second.text.prefix(500))")
        let difference = try await run("diff", "-r", copy, scratch.path + "/rsync")
        #expect(difference.text + difference.errors == "")
        let archived = try await shell(
          "tar -C \"$1\" -c a.mbox.messages | tar -C \"$2\" -x && diff -r \"$2/a.mbox.messages\" \"$2/copy\"",
          mount.mountpoint, scratch.path)
        #expect(archived.status == 0, "\(archived.text.prefix(500))\(archived.errors)")
      }
    }
  }

  /// A name completed and quoted by a shell is found; no name contains anything harmful to a terminal or script.
  @Test func messageNamesAreSafeForShells() async throws {
    try await withScratch { scratch in
      let subjects = [
        "$(touch x)", "`id`", "a\\b", "'q\" ", "*?[x]", "~", "-rf", "a\u{2028}b", "&& ; | <>", "\u{feff}x", "!!",
      ]
      let mails = subjects.map {
        "From - Mon Jan  1 00:00:00 2018\nFrom: a@example.com\nSubject: =?utf-8?B?\(Self.base64($0))?=\n\nx\n\n"
      }
      try scratch.write("a.mbox", mails.joined())
      try await withMount(scratch) { mount in
        let found = try await shell(
          """
          cd "$1/a.mbox.messages" && for number in {000001..\("00000\(subjects.count)".suffix(6))}; do
            name=$(compgen -f $number)
            eval "cat $(printf %q "$name")/body.txt" || echo "not found: $name"
          done | sort | uniq -c; ls | LC_ALL=C grep -c '[[:cntrl:]]'; ls | wc -l
          """, mount.mountpoint)
        #expect(
          found.lines.map { $0.trimmed } == ["\(subjects.count)", "\(subjects.count) x", "0", "\(subjects.count)"])
        #expect(found.errors == "")
      }
    }
  }

  private static func base64(_ text: String) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let bytes = Array(text.utf8) + Array(repeating: 0x20, count: (3 - text.utf8.count % 3) % 3)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let bits = bytes[start..<start + 3].reduce(0) { $0 << 8 | Int($1) }
      result += (0..<4).map { digits[bits >> (18 - 6 * $0) & 63] }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// A program that only lists names does not cause the decoding that sizes need.
  @Test func listingNamesDecodesNoAttachments() async throws {
    try await withScratch { scratch in
      let size = 20 << 20
      let made = try await run(
        MountScratch.python, "-c",
        """
        import base64, sys
        with open(sys.argv[1], "wb") as file:
            file.write(b"From - Mon Jan  1 00:00:00 2018\\nFrom: a@example.com\\nContent-Type: image/png; name=a.png\\n"
                       b"Content-Transfer-Encoding: base64\\n\\n" + base64.encodebytes(bytes(int(sys.argv[2]))) + b"\\n")
        """, scratch.source + "/a.mbox", "\(size)")
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        func bytesRead(_ lines: String) async throws -> Int {
          let said = try await shell(
            "cd \"$1\"/a.mbox.messages/* && \(lines) && sed -n 's/^rchar: //p' /proc/$2/io", mount.mountpoint,
            "\(mount.daemon.pid)")
          return Int(said.lines.last ?? "") ?? .max
        }
        // For splitting the mailbox and parsing the message.
        let before = try await bytesRead("ls attachments")
        let names = try await bytesRead("ls . attachments; find . attachments")
        #expect(names - before < size / 4, "\(names - before) bytes")
        let sizes = try await bytesRead("stat -c %s attachments/a.png | grep -x \(size)")
        #expect(sizes - names > size, "\(sizes - names) bytes")
      }
    }
  }

  /// With independent encoders.
  @Test func filesEncodedInTextAreAttachments() async throws {
    try await withScratch { scratch in
      let fixture = MountScratch.package + "/Tests/Fixtures/inline"
      _ = try await run("cp", fixture + ".mbox", scratch.source + "/a.mbox")
      try await withMount(scratch) { mount in
        try await script(
          "check_mail.py", mount.mountpoint + "/a.mbox.messages", fixture + ".mbox", fixture + ".json")
      }
    }
  }

  /// `winmail.dat` of many kinds, valid and invalid, from an encoder verified with Debian's tnef and ytnef.
  @Test func filesInWinmailDatAreAttachments() async throws {
    try await withScratch { scratch in
      let (archive, truth, single) = (scratch.source + "/a.mbox", scratch.path + "/truth", scratch.path)
      try await script("tnef_mail.py", "make", archive, truth, single)
      if MountScratch.has("tnef"), MountScratch.has("ytnef") {
        try await script("tnef_mail.py", "peers", single)
      } else {
        skipped("the encoder is compared with others by tnef and ytnef")
      }
      // Its images are not images.
      try await withMount(scratch, options: ["-o", "views=-png"]) { mount in
        try await script("check_mail.py", mount.mountpoint + "/a.mbox.messages", archive, truth)
        let html = try await shell(
          "grep -c 'Grüße.*attachments/pic.png' \"$1\"/a.mbox.messages/*html/body.html", mount.mountpoint)
        #expect(html.text == "1\n", "\(html.errors)")
        // A nested message is one.
        let inner = try await shell(
          "cd \"$1\"/a.mbox.messages/*' message/attachments/a message.eml.message' && cat body.txt && LC_ALL=C ls attachments && head -3 headers.txt",
          mount.mountpoint)
        #expect(
          inner.lines == [
            "inner textODD.BIN", "inner file.txt", "winmail.dat", "From: Anna Berg <anna@example.com>",
            "To: Bob; Carol",
            "Subject: Grüße, 日",
          ], "\(inner.text)\(inner.errors)")
      }
    }
  }

  /// As OpenSSL writes it, in DER and in BER.
  @Test(.enabled(if: MountScratch.has("openssl"), "needs openssl")) func contentOfOpaqueSignaturesIsShown() async throws
  {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1" && openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout ../key -out ../cert 2>/dev/null
        printf 'Content-Type: multipart/mixed; boundary=b\\n\\n--b\\nContent-Type: text/plain\\n\\nmarmalade\\n--b\\n' > ../mail
        printf 'Content-Disposition: attachment; filename=a.bin\\nContent-Transfer-Encoding: base64\\n\\n' >> ../mail
        head -c 100000 /dev/zero | base64 >> ../mail && printf '\\n--b--\\n' >> ../mail
        openssl cms -sign -nodetach -signer ../cert -inkey ../key -in ../mail -out der.eml
        openssl cms -sign -nodetach -stream -signer ../cert -inkey ../key -in ../mail -out ber.eml
        openssl smime -sign -nodetach -signer ../cert -inkey ../key -in ../mail -out old.eml
        """, scratch.source)
      #expect(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        for name in ["der", "ber", "old"] {
          let shown = try await shell(
            "cd \"$1\" && cat body.txt; ls attachments; head -c 100000 /dev/zero | cmp - attachments/a.bin && echo same",
            "\(mount.mountpoint)/\(name).eml.message")
          #expect(shown.text.replacing("\n", with: "") == "marmaladea.binsame", "\(name): \(shown.text)\(shown.errors)")
        }
      }
    }
  }

  @Test func mailboxCanBeTheSource() async throws {
    try await withScratch { scratch in
      try await script(
        "make_mail.py", "takeout", "lf", "40", "9", scratch.source + "/All mail", scratch.path + "/truth")
      let archive = scratch.source + "/All mail"
      try await withMount(archive, at: scratch.mountpoint, options: ["-o", "views=-pdf:-as-pdf"]) { mount in
        try await script("check_mail.py", mount.mountpoint, archive, scratch.path + "/truth")
      }
      try scratch.write("a.eml", "Subject: x\n\nthe text\n")
      try await withMount(scratch.source + "/a.eml", at: scratch.mountpoint) { mount in
        let text = try await run("cat", mount.mountpoint + "/body.txt").text
        #expect(text == "the text\n")
      }
      try scratch.write("bad.mbox", "no mailbox\n")
      let refused = try await run(MountProcess.binary, "-f", scratch.source + "/bad.mbox", scratch.mountpoint)
      #expect(refused.status == 65 && refused.errors.contains("bad.mbox") && refused.errors.contains("expected"))
    }
  }

  /// An mbox in a ZIP in a mail in an mbox.
  @Test func viewsOfMailComposeToAnyDepth() async throws {
    try await withScratch { scratch in
      let made = try await run(MountScratch.python, "-c", Self.matryoshka, scratch.source, MountScratch.package)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        // Listed up to four archives deep, where a mailbox counts as one; by name at any depth.
        let step = "/000001*/attachments/in.zip.contents/in.mbox.messages"
        let found = try await shell(
          "cd \"$1\"; cat outer.mbox.messages\(step)\(step)\(step)/000001*/body.txt; find . -name '*.views' -prune -o -name in.mbox -print | wc -l",
          mount.mountpoint)
        #expect(found.text == "the innermost\n\n2\n", "\(found.text)\(found.errors)")
      }
    }
  }

  /// A mailbox that is partly unreadable: the readable messages are listed, then comes the error.
  @Test func partlyUnreadableMailboxListsReadableMessages() async throws {
    try await withScratch { scratch in
      let plain = scratch.path + "/plain"
      try await script("many_mails.py", "make", "30000", "700", plain)
      let packed = try await run(
        MountScratch.python, "-c",
        """
        import sys, zipfile
        with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(sys.argv[1], "in.mbox")
        data = bytearray(open(sys.argv[2], "rb").read())
        data[len(data) // 2:len(data) // 2 + 40] = bytes([255]) * 40
        open(sys.argv[2], "wb").write(data)
        """, plain, scratch.source + "/a.zip")
      try #require(packed.status == 0, "\(packed.errors)")
      try await withMount(scratch) { mount in
        let shown = mount.mountpoint + "/a.zip.contents/in.mbox.messages"
        for _ in 0..<2 {
          let listed = try await shell("ls -U \"$1\" | wc -l", shown)
          #expect((10_000..<30_000).contains(Int(listed.text.filter(\.isNumber)) ?? 0), "\(listed.text)")
          #expect(listed.errors.contains("Input/output error"))
        }
        let first = try await shell("head -n 1 \"$1/000001 2018-01-01 P0 - m0/body.txt\"", shown)
        #expect(first.text == "body 0\n", "\(first.errors)")
        let reason = try await shell("getfattr --only-values -n user.ffmount.error \"$1\"", shown)
        #expect(reason.text.contains("in.mbox"), "\(reason.errors)")
      }
    }
  }

  private static let matryoshka = """
    import base64, io, sys, zipfile
    head = b"From - Mon Jan  1 00:00:00 2018\\nFrom: a@example.com\\nMIME-Version: 1.0\\n"
    mbox = head + b"\\nthe innermost\\n\\n"
    for _ in range(3):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("in.mbox", mbox)
        mbox = (head + b"Content-Type: application/zip; name=in.zip\\nContent-Transfer-Encoding: base64\\n\\n"
                + base64.encodebytes(file.getvalue()) + b"\\n")
    open(sys.argv[1] + "/outer.mbox", "wb").write(mbox)
    """
}

extension String {
  fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
