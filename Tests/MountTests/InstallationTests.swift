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
