import TestSupport
import Testing

/// What an installation of ffmount consists of: converters that work, and the data of a download.
struct InstallationTests {
  /// A converter that is installed and does not work is a failed requirement.
  @Test func doctorTriesOneConversionOfEachFamily() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; mkdir temporary; export XDG_CACHE_HOME=$PWD/cache TMPDIR=$PWD/temporary
        for name in ffmount ffconvert ffpages ffscan ffoffice ffarchive; do cp "${2%/*}/$name" .; done
        printf '#!/bin/sh\\nexit 1\\n' >ffmedia; chmod 755 ffmedia
        ./ffmount doctor; echo "ended $?"; ls -A temporary cache 2>/dev/null
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary, limit: 120)
      for family in ["images", "PDFs", "scans", "office text", "archives"] {
        #expect(said.lines.contains { $0.hasPrefix("ok    \(family) ") }, "\(said.text)")
      }
      for family in ["sound", "films"] {
        let line = try #require(said.lines.firstIndex { $0.hasPrefix("bad   \(family) ") }, "\(said.text)")
        #expect(said.lines[line + 1].hasSuffix("fix it with: sudo apt install --reinstall ffmount-media"))
      }
      // Nothing is left, and nothing is kept for mounts.
      let end = try #require(said.lines.firstIndex(of: "ended 1"), "\(said.text)")
      #expect(!said.lines[end...].contains { $0.contains("doctor") || $0.contains("renditions") }, "\(said.text)")
    }
  }

  /// Packages are installed on request only: here a language that is missing, by programs in place of apt and sudo.
  @Test(
    .enabled(
      if: MountScratch.isRoot && MountScratch.has("setpriv") && MountScratch.has("script"),
      "needs root, setpriv and script"))
  func doctorInstallsWhatItNames() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; mkdir bin; mkdir -m 777 temporary cache; chmod 755 . ; touch asked; chmod 666 asked
        export XDG_CACHE_HOME=$PWD/cache TMPDIR=$PWD/temporary LC_ALL=eo PATH=$PWD/bin:/usr/bin:/bin program=$2
        printf '#!/bin/sh\necho "${0##*/} $*" >>"%s/asked"; exit $CODE\n' "$PWD" | tee bin/apt-get >bin/sudo; chmod 755 bin/*
        asked() { echo "$1 ended $2"; sed "s/^/$1 /" asked; : >asked; }
        as() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }
        "$program" doctor >/dev/null </dev/null; asked plain 0
        CODE=0 "$program" doctor --fix </dev/null; asked root $?
        CODE=7 "$program" doctor --fix </dev/null; asked failing $?
        as "$program" --version >/dev/null || exit 90
        CODE=0 as "$program" doctor --fix </dev/null; asked user $?
        CODE=0 as script -qec "$program doctor --fix" /dev/null </dev/null; asked terminal $?
        "$program" doctor --fix --json; echo "ended $?"
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary, limit: 240)
      if said.status == 90 { try Test.cancel("another user may not run what lies here: \(said.text)") }
      func asked(_ who: String) -> [String] { said.lines.filter { $0.hasPrefix("\(who) ") } }
      let package = "tesseract-ocr-epo"
      #expect(asked("plain") == ["plain ended 0"])
      for who in ["root", "failing"] {
        let call = try #require(asked(who).last, "\(said.text)\(said.errors)")
        #expect(call.hasPrefix("\(who) apt-get --yes install ") && call.contains(package), "\(call)")
      }
      #expect(asked("failing").first == "failing ended 1")
      #expect(said.errors.contains("apt-get ended with status 7"), "\(said.errors)")
      #expect(asked("user") == ["user ended 1"], "\(said.text)")
      #expect(said.errors.contains("or a terminal with sudo (type: sudo apt install"), "\(said.errors)")
      let call = try #require(asked("terminal").last)
      #expect(call.hasPrefix("terminal sudo \(scratch.path)/bin/apt-get install ") && call.contains(package), "\(call)")
      // After a success, the checks are repeated.
      #expect(said.lines.count { $0.contains("  versions ") } == 5, "\(said.text)")
      #expect(said.lines.last == "ended 64")
    }
  }

  /// A language whose data only the folder of the download has.
  @Test(.enabled(if: MountScratch.exists(english), "needs tesseract-ocr-eng"))
  func dataOfADownloadAreUsed() async throws {
    try await withScratch { scratch in
      let text = "BT /F1 24 Tf 72 700 Td (Hello from a PDF) Tj ET"
      try scratch.write(
        "note.pdf",
        """
        %PDF-1.4
        1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
        2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
        3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R
        /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj
        4 0 obj << /Length \(text.utf8.count) >> stream
        \(text)
        endstream endobj
        trailer << /Root 1 0 R >>

        """)
      let lines = """
        cd "$1"; data=share/ffmount/system/usr/share/tessdata; export XDG_CACHE_HOME=$PWD/cache
        mkdir -p download/bin download/libexec/ffmount
        cp "$2" download/bin/; cp "${2%/*}/ffconvert" "${2%/*}/ffscan" download/libexec/ffmount/
        try() {
          download/bin/ffmount source mnt 2>/dev/null; cat mnt/note.pdf.200dpi.as-png.epo.as-txt 2>/dev/null || echo failed
          download/bin/ffmount -u mnt
        }
        try; mkdir -p download/$data; cp "$3" download/$data/epo.traineddata; try
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary, Self.english, limit: 120)
      #expect(said.lines.first == "failed" && said.lines.contains("Hello from a PDF"), "\(said.text)\(said.errors)")
    }
  }

  private static let english = "/usr/share/tesseract-ocr/5/tessdata/eng.traineddata"
}
