import Foundation
import TestSupport
import Testing

/// Conversions through a mount, made by the real worker.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ConverterTests {
  /// Copies valid small files: two of the project's own and, if available, some of the corpus.
  private static func fill(_ scratch: MountScratch) async throws {
    try await script("make_documents.py", scratch.source)
    guard let corpus = sharedCorpus?.path else {
      skipped("other formats than PNG and PDF need the corpus beside the project")
      return
    }
    let files = [
      "exif-orientation/Portrait_6.jpg", "heic/image4.heic", "sharp/4.webp", "sharp/G31D.TIF", "sharp/check.svg",
    ]
    for file in files { _ = try await shell("cp \"$1\" \"$2\"", "\(corpus)/image/\(file)", scratch.source) }
  }

  /// Programs that read a tree, each on a mount without conversions yet: `$O/NAME` gets what they read.
  static let readers = [
    "cat": "mkdir -p $O/cat/report.pdf.pages; for f in * */*; do [ -d $f ] || cat $f > $O/cat/$f; done",
    "cp": "cp -r . $O/cp",
    "tar": "mkdir $O/tar; tar -cf - . | tar -C $O/tar -xf -",
    "rsync": "rsync -a ./ $O/rsync/; rsync -a --out-format='again: %n' ./ $O/rsync/",
    "zip": "zip -qr $O/z.zip . && unzip -q -d $O/zip $O/z.zip; rm -f $O/z.zip",
    "mmap": "python3 $T/map_tree.py . $O/mmap",
  ]

  @Test func everyProgramReadsTheSameBytes() async throws {
    try await withScratch { scratch in
      try await Self.fill(scratch)
      for (name, reader) in Self.readers.sorted(by: { $0.key < $1.key }) {
        _ = try await shell("rm -rf \"$1\"/cache", scratch.path)
        try await withConverter(scratch, "views=+png:+webp:+gif:+avif:+bmp:+svg") { mount in
          let complaints = try await mount.shell(reader, scratch)
          #expect(complaints == "", "\(name)")
          let check = """
            diff -r . $O/\(name) && find . -type f | while read f; do
              [ $(stat -c %s "$f") = $(stat -c %s "$O/\(name)/$f") ] || echo "size of $f"
              [ $(getfattr --only-values -n user.ffmount.state "$f" 2>/dev/null || echo exact) = exact ] || echo "state of $f"
            done
            """
          let differences = try await mount.shell(check, scratch)
          #expect(differences == "", "\(name)")
        }
      }
      let compare = "cd $1/out && for d in */; do diff -r cat $d; done; ls | wc -l; find cat -type f | wc -l"
      let found = try await shell(compare, scratch.path)
      let files = sharedCorpus == nil ? 16 : 25
      #expect(found.text == "\(Self.readers.count)\n\(files)\n")
    }
  }

  /// Small pages that are read in order are made by few jobs. Results of series are not in the cache. A busy machine ends
  /// a series early, so one of several mounts has to show it.
  @Test func pagesReadInOrderAreMadeInSeries() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      var least = Int.max
      for _ in 0..<20 where least >= 4 {
        try await withConverter(scratch) { mount in
          // cp and tar read folders in the order of inode numbers.
          let lines = """
            cat report.pdf.pages/0*.pdf > $O/all && ls -i report.pdf.pages | sort -n | awk '{print $2}' > $O/order
            ls report.pdf.pages | cmp - $O/order && wc -l < $O/order
            """
          let pages = try await mount.shell(lines, scratch)
          #expect((Int(pages.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 8)
        }
        let count = "find \"$1\"/cache -type f | grep -E '/[0-9a-f]{64}$' | wc -l; rm -r \"$1\"/cache"
        let kept = try await shell(count, scratch.path)
        least = min(least, Int(kept.text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .max)
      }
      #expect(least < 4)
    }
  }

  @Test func listingManyFilesStartsNoWorker() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      let make = """
        import os, sys
        os.chdir(sys.argv[1])
        os.mkdir("pdf")
        for number in range(10_000): os.link("photo.png", f"{number}.png")
        for number in range(1000): os.link("report.pdf", f"pdf/{number}.pdf")
        """
      _ = try await shell("python3 -c \"$1\" \"$2\"", make, scratch.source)
      try await withConverter(scratch, "views=+png") { mount in
        let lines = """
          ls -l | grep -c as-jpeg; ls -l pdf | grep -c 'pages$'; find . -maxdepth 1 | wc -l
          workers; ls $O/../cache/ffmount/renditions 2>&1 | grep -o 'No such'
          """
        let said = try await mount.shell(lines, scratch)
        #expect(said == "10001\n1000\n20007\nNo such\n")
      }
    }
  }

  /// `ls -l` of coreutils 9.5 and later requests the names of every file that it lists.
  @Test func listingAttributeNamesStartsNoWorker() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      try scratch.write("letter.msg", "x")
      _ = try await shell("cd \"$1\"; 7z a -bso0 -bsp0 a.7z photo.png", scratch.source)
      try await withConverter(scratch, "views=+png") { mount in
        let lines = """
          python3 -c 'import os; print(*sorted(n for n in os.listdir() if "user.ffmount.view" in os.listxattr(n)))'
          workers; ls $O/../cache/ffmount/renditions 2>&1 | grep -o 'No such'
          state() { getfattr --only-values -n user.ffmount.state $1; echo; }; state report.pdf.pages; state letter.msg.message
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == "a.7z.contents letter.msg.message photo.png.as-jpeg report.compressed.pdf report.pdf.pages\nNo such\n"
            + "exact\nfailed\n")
      }
    }
  }

  /// What file managers do with a folder, by GIO.
  @Test func desktopDeterminesTypesWithoutReadingFiles() async throws {
    let expected = "50\nNo such\ntype: image/webp\ntype: text/plain\ntype: image/gif\n"
    var said = ""
    // On a busy machine, so much time passes between a listing and a stat that the stat is that of another program.
    for _ in 0..<3 where said != expected {
      said = try await withScratch { scratch in
        try await script("make_documents.py", scratch.source)
        _ = try await shell("cd \"$1\"; for n in $(seq 50); do ln photo.png $n.tiff; done", scratch.source)
        return try await withConverter(scratch) { mount in
          let lines = """
            mkdir -p $O/mime/packages; "$B" formats --mime > $O/mime/packages/ffmount.xml
            update-mime-database $O/mime > /dev/null 2>&1
            list() { XDG_DATA_HOME=$O gio list -a standard::content-type,standard::icon,standard::size .; }
            list | grep -c 'as-jpeg.*content-type=image/jpeg'
            workers; ls $O/../cache/ffmount/renditions 2>&1 | grep -o 'No such'
            # Who asks after one file is told its size, so this one is made.
            for f in photo.png.as-webp report.pdf.as-txt photo.png.as.gif; do
              XDG_DATA_HOME=$O gio info -a standard::content-type $f | grep -o 'type: [a-z].*/.*'
            done
            """
          return try await mount.shell("B='\(MountProcess.binary)'\n" + lines, scratch)
        }
      }
    }
    #expect(said == expected)
  }

  /// What a double click does, by GIO and by xdg-open.
  @Test(.enabled(if: MountScratch.has("xdg-open"), "needs xdg-open")) func conversionResultsOpenInAssociatedPrograms()
    async throws
  {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      try scratch.write("x.csv", "a,b\n1,2\n")
      _ = try await shell("ln \"$1/photo.png\" \"$1/scan.tiff\"", scratch.source)
      try await withConverter(scratch) { mount in
        let lines = """
          export XDG_DATA_HOME=$O XDG_CONFIG_HOME=$O/config XDG_CURRENT_DESKTOP= DESKTOP_SESSION= DISPLAY=:0 BROWSER=false
          mkdir -p $O/mime/packages $O/applications $O/config; "$B" formats --mime > $O/mime/packages/ffmount.xml
          update-mime-database $O/mime > /dev/null 2>&1; echo '[Default Applications]' > $O/config/mimeapps.list
          printf '#!/bin/sh\\necho "$1: ${2##*/}" >> %s' "$O/log" > $O/run; chmod +x $O/run
          for app in viewer:image/jpeg reader:application/pdf browser:text/html editor:text/plain; do
            printf '[Desktop Entry]\\nType=Application\\nName=%s\\nExec=%s %s %%f\\n' ${app%:*} $O/run ${app%:*} > $O/applications/${app%:*}.desktop
            echo "${app#*:}=${app%:*}.desktop" >> $O/config/mimeapps.list
          done
          for open in 'gio open' xdg-open; do
            : > $O/log
            for f in scan.tiff.as-jpeg scan.tiff.as.jpg report.pdf.pages/002.pdf x.csv.as-html report.pdf.as-txt; do
              $open $f 2>&1
            done
            for n in $(seq 1500); do [ $(wc -l < $O/log) = 5 ] && break; sleep .02; done; sort $O/log
          done
          """
        let said = try await mount.shell("B='\(MountProcess.binary)'\n" + lines, scratch)
        let opened = """
          browser: x.csv.as-html
          editor: report.pdf.as-txt
          reader: 002.pdf
          viewer: scan.tiff.as-jpeg
          viewer: scan.tiff.as.jpg

          """
        #expect(said == opened + opened)
      }
    }
  }

  @Test func thumbnailsOfViewsUseTheSourcePicture() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      try scratch.write("x.csv", "a,b\n")
      try await withConverter(scratch) { mount in
        let lines = """
          thumb() { XDG_CACHE_HOME=$O/../cache "$B" thumbnail "$@"; }
          thumb photo.png $O/1.png --size 100; thumb photo.png.as-webp $O/2.png -s 100; thumb $S/photo.png.as.jpg $O/3.png -s 100
          cmp $O/1.png $O/2.png && cmp $O/1.png $O/3.png; thumb report.pdf $O/4.png -s 64; thumb report.pdf.pages/002.pdf $O/5.png
          file -b $O/[145].png | cut -d, -f1,2; thumb x.csv $O/6.png; thumb . $O/6.png; thumb photo.png $O/no/6.png 2>&1 | sed "s|$O|O|g"; ls $O
          """
        let said = try await mount.shell("B='\(MountProcess.binary)'\n" + lines, scratch)
        #expect(
          said == """
            PNG image data, 100 x 75
            PNG image data, 64 x 64
            PNG image data, 256 x 256
            ffmount: cannot make a thumbnail of x.csv: neither an image nor a PDF
            ffmount: cannot make a thumbnail of .: not a file
            ffmount: cannot write the thumbnail to O/no/6.png: No such file or directory (make it with: mkdir -p O/no)
            1.png
            2.png
            3.png
            4.png
            5.png

            """)
      }
    }
  }

  @Test func conversionsComposeWithArchivesAndMail() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      let make = """
        import email.message, io, sys, zipfile
        def packed(**members):
            box = io.BytesIO()
            with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in members.items():
                    archive.writestr(name.replace("_", "."), content)
            return box.getvalue()
        folder = sys.argv[1]
        photo, report = (open(f"{folder}/{name}", "rb").read() for name in ("photo.png", "report.pdf"))
        letter = email.message.EmailMessage()
        letter["From"] = letter["To"] = "a@example.org"
        letter.set_content("hello")
        for name, content in {"p.zip": packed(photo_png=photo), "x.pdf": report}.items():
            letter.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
        open(f"{folder}/letter.eml", "wb").write(bytes(letter))
        deep = packed(a_zip=packed(b_zip=packed(report_pdf=report)))
        open(f"{folder}/deep.zip", "wb").write(deep)
        """
      _ = try await shell("python3 -c \"$1\" \"$2\"", make, scratch.source)
      try await withConverter(scratch) { mount in
        let lines = """
          m=letter.eml.message/attachments; d=deep.zip.contents/a.zip.contents/b.zip.contents
          same() { cmp "$1" "$2" && file -b "$1" | cut -d, -f1; }
          same $m/p.zip.contents/photo.png.as-jpeg photo.png.as-jpeg
          same $m/x.pdf.pages/002.pdf.as-jpeg report.pdf.pages/002.pdf.as-jpeg
          same $d/report.pdf.pages/011.pdf report.pdf.pages/11.pdf
          same $d/report.pdf.pages/011.pdf.72dpi.as-png report.pdf.pages/011.pdf.72dpi.as-png
          cmp -s $d/report.pdf.pages/011.pdf.72dpi.as-png report.pdf.pages/012.pdf.72dpi.as-png || echo another page
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            JPEG image data
            JPEG image data
            PDF document
            PNG image data
            another page

            """)
      }
    }
  }
}
