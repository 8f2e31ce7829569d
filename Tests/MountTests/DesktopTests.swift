import TestSupport
import Testing

/// `ffmount save`, `ffmount open` as desktops start it, and the entries for the menus of file managers.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: MountScratch.exists(MountProcess.program("ffconvert")), "needs ffconvert"))
struct DesktopTests {
  /// Starts a shell in a new session, without a terminal, whose desktop has stand-ins for zenity and xdg-open. They
  /// write their arguments to `asked` and `shown`, and answer with the content of `answer`.
  private func desktop(_ lines: String, _ scratch: MountScratch) async throws -> MountChild.Result {
    let start = """
      cd "$1"; export XDG_CACHE_HOME=$1/cache XDG_RUNTIME_DIR=$1/run DISPLAY=:99 WAYLAND_DISPLAY= XDG_CURRENT_DESKTOP=
      mkdir -p bin run; chmod 700 run
      printf '#!/bin/sh\\nprintf "%%s|" "$@" >> "%s/asked"; [ -e "%s/answer" ] && cat "%s/answer"\\n' "$1" "$1" "$1" > bin/zenity
      printf '#!/bin/sh\\necho "$1" >> "%s/shown"\\n' "$1" > bin/xdg-open
      chmod +x bin/*; PATH=$1/bin:/usr/bin:/bin; shift

      """
    return try await MountChild(
      ["/usr/bin/setsid", "--wait", "/bin/bash", "-c", start + lines, "bash", scratch.path, MountProcess.binary]
    ).wait(atMost: 60)
  }

  @Test func viewsAreSavedBesideTheirFiles() async throws {
    try await withScratch { scratch in
      let said = try await shell(
        """
        cd "$1"; export XDG_CACHE_HOME=$1/cache
        "$2" -c 'from PIL import Image; i = Image.new("RGB", (64, 48), "red"); i.save("a.b.png"); i.save("c.tif")
        i.save("d.pdf")'
        save() { timeout 60 "$B" save "$@" 2>&1; echo "status $?"; }
        B=$3; P=$PWD; chmod 600 c.tif; mkdir out
        save as-jpeg a.b.png c.tif | sort; save --to out 32px.as-jpeg a.b.png; save 32px.as-webp a.b.png
        save compressed.pdf d.pdf; save as-jpeg a.b.png; save as-jpeg none.png
        save as-mp3 a.b.png | sed 's/(.*/(/'; save pages d.pdf; save a/b d.pdf | sed 's/(.*/(/'
        echo none > e.png; save as-jpeg none.png e.png c.tif | sed 's/: .*//' | sort
        head -qc 3 a.b.jpg c.jpg | od -An -tx1; stat -c '%a %n' c.jpg; ls
        """, scratch.path, MountScratch.python, MountProcess.binary)
      let path = scratch.path
      #expect(
        said.text.replacing(path + "/", with: "") == """
          a.b.jpg
          c.jpg
          status 0
          out/a.b.32px.jpg
          status 0
          a.b.32px.webp
          status 0
          d.compressed.pdf
          status 0
          a.b (1).jpg
          status 0
          ffmount: cannot read none.png: No such file or directory (check the path)
          status 66
          ffmount: cannot save as-mp3 of a.b.png: not a view of this file (
          status 65
          ffmount: cannot save pages of d.pdf: a folder (copy it from a mount)
          status 64
          ffmount: 'a/b' is not the end of a view's name (
          status 64
          c (1).jpg
          ffmount
          ffmount
          status 1
           ff d8 ff ff d8 ff
          600 c.jpg
          a.b (1).jpg
          a.b.32px.webp
          a.b.jpg
          a.b.png
          c (1).jpg
          c.jpg
          c.tif
          cache
          d.compressed.pdf
          d.pdf
          e.png
          mnt
          out
          source

          """, "\(said.text) \(said.errors)")
    }
  }

  @Test func failuresWithoutTerminalAreShownInAWindow() async throws {
    try await withScratch { scratch in
      try scratch.write("<b>a.txt", "no folder in it")
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      let said = try await desktop(
        """
        "$1" open 'source/<b>a.txt'; echo "status $?"; cat asked; echo
        rm asked; "$1" open --print source/a.zip; echo "status $?"; ls asked shown; "$1" -u run/ffmount/a.zip
        # A terminal shows messages itself.
        rm -f asked; script -qec "'$1' open 'source/<b>a.txt'" /dev/null > /dev/null; ls asked
        XDG_CURRENT_DESKTOP=KDE; cp bin/zenity bin/kdialog; "$1" open 'source/<b>a.txt'; cat asked
        rm asked; head -c 60 source/a.zip > source/cut.zip; "$1" open --print source/cut.zip; echo "status $?"; cat asked
        "$1" -u run/ffmount/cut.zip
        """, scratch)
      let sentence = "cannot show \(scratch.source)/<b>a.txt: it has no view that is a folder"
      #expect(
        said.text.hasPrefix(
          "status 65\n--error|--title=ffmount|--no-markup|--width=480|--text=\(sentence)"), "\(said.text)")
      #expect(said.text.contains("|\n\(scratch.path)/run/ffmount/a.zip\nstatus 0\n"), "\(said.text)")
      #expect(
        said.errors.contains("ffmount: \(sentence)") && said.errors.contains("'asked': No such"), "\(said.errors)")
      #expect(said.text.contains("|cannot show \(scratch.source)/‹b>a.txt"), "\(said.text)")
      let part = "cannot show all of source/cut.zip: expected an end of central directory record"
      #expect(said.errors.contains("ffmount: \(part)") && said.text.contains("|\(part)"), "\(said.text)")
      #expect(said.text.contains("\(scratch.path)/run/ffmount/cut.zip\nstatus 0\n"), "\(said.text)")
    }
  }

  @Test func filesInAMountAreShownThereAndMailIsSearched() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      let mails = ["harbour", "pier"].map {
        "From a@b Thu Jan  4 10:00:00 2024\nFrom: a@b\nSubject: \($0)\n\nText.\n\n"
      }
      try scratch.write("in.mbox", mails.joined())
      try await withMount(scratch) { mount in
        let said = try await desktop(
          """
          cd mnt; "$1" open a.zip; "$1" open a.zip.contents; "$1" open --search harbour in.mbox
          cd ../source; echo 'subject:pier' > ../answer; "$1" open --search '' in.mbox; cat ../asked; echo
          ls ../run/ffmount/*/in.mbox.views/search/subject:pier
          rm ../asked ../answer; "$1" open --search '' in.mbox; echo "status $?"
          "$1" open --search nothing in.mbox; echo "status $?"; "$1" open --search nothing .; echo "status $?"
          "$1" open --search 'list:x' in.mbox; echo "status $?"; "$1" open --search harbour a.zip; echo "status $?"
          cat ../shown; "$1" open --print --search inside ../mnt; "$1" open --print --search inside .
          ls ../run/ffmount/source/.search/inside | grep -c in.txt; "$1" open --print --search inside ../mnt/a.zip.contents
          "$1" -u ../run/ffmount/*
          """, scratch)
        let hits = "\(scratch.path)/run/ffmount/source/in.mbox.views/search"
        let shown = [
          "\(mount.mountpoint)/a.zip.contents", "\(mount.mountpoint)/a.zip.contents",
          "\(mount.mountpoint)/in.mbox.views/search/harbour",
        ]
        #expect(Array(said.lines.prefix(3)) == shown, "\(said.text) \(said.errors)")
        #expect(said.lines.dropFirst(3).first == "\(hits)/subject:pier", "\(said.text) \(said.errors)")
        #expect(said.text.contains("--title=ffmount|--entry|--text=Search in.mbox:|"), "\(said.text)")
        #expect(said.text.contains("a@b - pier\nstatus 0\nstatus 1\nstatus 1\nstatus 64\nstatus 65\n"), "\(said.text)")
        let searches = ["\(mount.mountpoint)/.search/inside", "\(scratch.path)/run/ffmount/source/.search/inside", "1"]
        #expect(said.lines.suffix(7) == shown + ["\(hits)/subject:pier"] + searches, "\(said.text)")
        #expect(
          said.errors.contains("no mail in it") && said.errors.contains("a.zip.contents: inside a view (search")
            && said.errors.contains("'list:' is not a prefix"), "\(said.errors)")
      }
    }
  }

  /// Views are saved from a mount, too: as they are there, whatever their size was before they were made.
  @Test func viewsAreSavedFromAMount() async throws {
    try await withScratch { scratch in
      let said = try await shell(
        """
        cd "$1"; export XDG_CACHE_HOME=$1/cache; mkdir out
        "$2" -c 'from PIL import Image; i = Image.new("RGB", (64, 48), "red"); i.save("source/a.png"); i.save("c.png")'
        "$2" -m zipfile -c source/b.zip c.png; "$3" source mnt
        "$3" save --to out as-jpeg mnt/a.png mnt/b.zip.contents/c.png 2>&1; echo "status $?"
        cp mnt/a.png.as-jpeg a.jpg; cmp a.jpg out/a.jpg && cmp mnt/b.zip.contents/c.png.as-jpeg out/c.jpg && echo same
        "$3" save as-jpeg mnt/a.png 2>&1; echo "status $?"; "$3" save --to out as-jpgg mnt/a.png 2>&1; echo "status $?"
        "$3" save --to out contents mnt/b.zip 2>&1; "$3" -u mnt
        """, scratch.path, MountScratch.python, MountProcess.binary, limit: 60)
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      #expect(
        said.text.replacing(scratch.path + "/", with: "") == """
          out/a.jpg
          out/c.jpg
          status 0
          same
          ffmount: cannot write a.jpg in mnt: Read-only file system (give another folder with --to FOLDER)
          status 1
          ffmount: cannot save as-jpgg of a.png: not a view of this file (did you mean as-jpeg?)
          status 65
          ffmount: cannot save contents of b.zip: a folder (copy it from a mount)

          """, "\(said.text) \(said.errors)")
    }
  }

  /// Runs the command of each entry on files of its types.
  @Test(
    .enabled("needs gio, ffmpeg, vips and LibreOffice") {
      ["gio", "ffmpeg", "vips", "soffice"].allSatisfy { MountScratch.has($0) }
    }) func menusOfFileManagersDoWhatTheySay() async throws
  {
    let check = MountScratch.package + "/scripts/checks/desktop"
    let said = try await MountChild([MountScratch.python, check, "--ffmount", MountProcess.binary]).wait(atMost: 280)
    #expect(said.status == 0 && said.text == "desktop: all is well\n", "\(said.text) \(said.errors)")
  }
}
