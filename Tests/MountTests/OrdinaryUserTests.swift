import Glibc
import TestSupport
import Testing

/// The ordinary life of a mount, of a user who is not root and has nothing but a home.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: !MountScratch.isRoot || MountScratch.has("setpriv"), "needs setpriv to be another user than root"))
struct OrdinaryUserTests {
  /// Starts programs as the user: `nobody` where this is root.
  private static let become = """
    if [ "$(id -u)" = 0 ]; then user=65534; chown -R $user:$user "$1/home"; else user=; fi
    as() {
      ${user:+setpriv --reuid=$user --regid=$user --clear-groups --} env HOME="$1/home" XDG_RUNTIME_DIR="$1/home" \\
        XDG_CACHE_HOME= TMPDIR="$1/home" PATH="$PATH" "${@:2}"
    }
    """

  /// Makes `home/files`, and `bin` with the programs, unless the user reaches them where they are.
  private static let make = """
    set -e; cd "$1"; chmod 755 .; mkdir -m 700 home; mkdir home/files home/mnt; cd home/files
    "$2" - <<'END'
    import zipfile
    from PIL import Image
    pages = [Image.new("RGB", (300, 400), colour) for colour in ("red", "blue")]
    pages[0].save("report.pdf", save_all=True, append_images=pages[1:])
    pages[0].save("photo.png")
    with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/in.txt", "inside\\n" * 100)
        archive.writestr("run", "tool")
    with open("inbox.mbox", "w") as mailbox:
        for number in range(1, 21):
            subject = "Invoice" if number == 7 else f"Letter {number}"
            mailbox.write(f"From anna@example.org Fri May  3 09:30:00 2024\\nFrom: Anna <anna@example.org>\\n"
                          f"Date: Fri, 3 May 2024 09:30:00 +0000\\nSubject: {subject}\\n\\nHello {number}\\n\\n")
    END
    vips copy photo.png photo.heic; rm photo.png; cd ../..
    """

  private static let find = """
    cd "$1"; \(become)
    program=$2; as "$1" test -x "$2" || { mkdir bin && cp "${2%/*}"/ff{mount,convert,pages} bin/; program=$1/bin/ffmount; }
    as "$1" "$program" --version >/dev/null || exit 90
    as "$1" test -r /dev/fuse -a -w /dev/fuse || exit 91
    """

  /// Runs a script, with `home/mnt` for a mount. Cancels the test where another user cannot mount.
  private func lived(_ life: String, _ scratch: MountScratch) async throws -> MountChild.Result {
    let said = try await shell(Self.find + "\n" + life, scratch.path, MountProcess.binary)
    await offThread { MountProcess.unmount(scratch.path + "/home/mnt") }
    let hindrances: [Int32: String] = [
      90: "another user may not run ffmount here", 91: "another user may not open /dev/fuse",
      92: "another user may not mount here",
    ]
    if let hindrance = hindrances[said.status] {
      try Test.cancel("\(hindrance): \(said.text)\(said.errors)")
    }
    return said
  }

  /// Files and folders that the user may not read hide no others from searches of mail, and `why` says what they are.
  @Test func unreadablePartsHideNothingElse() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1"; chmod 755 .; mkdir -m 700 home; mkdir -p home/files/nope home/files/sub home/mnt home/files/Maildir/{cur,new,tmp}
        for name in nope/x sub/y z; do
          printf 'From a@b Fri May  3 10:00:00 2024\nFrom: a@b\nSubject: pier\n\nx\n' > home/files/$name.mbox
        done
        printf 'Subject: quay\\n\\nx\\n' > home/files/Maildir/cur/1.a:2,S
        """, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let said = try await lived(
        """
        cd home; chmod 0 files/nope files/sub/y.mbox; as "$1" "$program" search --mail files pier | cut -f 4
        as "$1" "$program" status | grep -c ' /.*/home/files/[zM].*: 1 message'; as "$1" "$program" files mnt || exit 92
        as "$1" "$program" why mnt/sub/y.mbox | grep -e '^state' -e '^error'
        chmod 700 files/nope; as "$1" "$program" search --mail files pier | wc -l; as "$1" "$program" -u mnt
        """, scratch)
      #expect(
        said.text == """
          pier
          2
          state   failed: it cannot be read, or only in part
          error   you do not have permission to read it: it belongs to user \(MountScratch.isRoot ? 65534 : getuid()), and its mode is 0000
          2

          """, "\(said.text)\(said.errors)")
    }
  }

  private static let life = """
    cd home; mnt=$1/home/mnt
    run() { as "$1" "${@:2}" 2>&1; }; ffmount() { run "$home" "$program" "$@"; }; home=$1
    ffmount files mnt || exit 92
    run "$1" bash -e -c '
      cd mnt; ls
      head -n 1 a.zip.contents/folder/in.txt; cp -r a.zip.contents ../copy; find ../copy -type f | sort
      cp -r inbox.mbox.messages ../mails; ls ../mails | wc -l; grep Hello ../mails/*7*Invoice/body.txt
      ls inbox.mbox.views/search/from:anna\\ invoice
      for f in photo.heic.as-jpeg photo.heic.50px.as-png report.pdf.pages/2.pdf report.compressed.pdf report.pdf.as-jpeg
      do cp $f ../; file -b ../${f##*/} | cut -d, -f1; done
      # Copies are edited, replaced and removed.
      cp photo.heic.as-jpeg ../; cp a.zip.contents/folder/in.txt ../copy/folder/; echo more >> ../mails/*7*Invoice/body.txt
      rm -rf ../copy ../mails; ls .. | grep -cx "copy\\|mails" || true
      ! touch new 2>&1; stat -c "%U" a.zip.contents/run photo.heic.as-jpeg | sort -u | grep -cx "$(id -un)"
      '
    ffmount search files/inbox.mbox invoice | cut -f 1,3,4
    ffmount status | grep -o -e 'inbox.mbox: 20 messages' -e '[0-9]* converted since.*'
    ffmount list | grep -A 2 -F "$mnt" | sed "s|$1|.|; s/running for.*/running/"
    ffmount thumbnail mnt/photo.heic.as-jpeg thumb.png; file -b thumb.png | cut -d, -f1
    stat -c '%a %n' .cache/ffmount; ffmount doctor | grep -e '^bad' | grep -v ' cache space\\| temp space'
    # What is kept cannot be forgotten when it cannot be changed.
    chmod 400 .cache/ffmount/index.sqlite; ffmount cache clear | grep -o 'index.sqlite cannot be written to: Permission denied'
    chmod 600 .cache/ffmount/index.sqlite; ffmount cache clear | grep -c Forgot
    ffmount -u mnt; echo "unmounted $?"; ls mnt
    """

  @Test(
    .enabled(
      if: MountScratch.has("vips") && MountScratch.exists(MountProcess.program("ffconvert")),
      "needs vips and ffconvert"))
  func everythingWorksWithoutRoot() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path, MountScratch.python)
      try #require(made.status == 0, "\(made.errors)")
      let said = try await lived(Self.life, scratch)
      #expect(
        said.text == """
          a.zip
          a.zip.contents
          inbox.mbox
          inbox.mbox.messages
          inbox.mbox.views
          photo.heic
          photo.heic.as-jpeg
          report.compressed.pdf
          report.pdf
          report.pdf.pages
          inside
          ../copy/folder/in.txt
          ../copy/run
          20
          Hello 7
          000007 2024-05-03 Anna - Invoice
          JPEG image data
          PNG image data
          PDF document
          PDF document
          JPEG image data
          0
          touch: cannot touch 'new': Read-only file system
          1
          inbox.mbox.messages/000007 2024-05-03 Anna - Invoice\tAnna\tInvoice
          inbox.mbox: 20 messages
          5 converted since it was mounted
          ./home/mnt
            of ./home/files
            running
          PNG image data
          700 .cache/ffmount
          index.sqlite cannot be written to: Permission denied
          1
          unmounted 0

          """, "\(said.errors)")
    }
  }
}
