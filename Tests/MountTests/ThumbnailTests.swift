import TestSupport
import Testing

/// `ffmount thumbnail`.
@Suite(.timeLimit(.minutes(5)), .enabled(if: MountScratch.exists(MountProcess.program("ffconvert")), "needs ffconvert"))
struct ThumbnailTests {
  /// The output is replaced by a whole thumbnail, or stays as it is.
  @Test func thumbnailOutputIsReplacedAtomically() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; export XDG_CACHE_HOME=$1/cache
        thumb() { timeout 60 "$B" thumbnail "$@" 2>&1; echo "status $?"; }
        "$2" -c 'import os, sys; from PIL import Image
        Image.frombytes("RGB", (900, 900), os.urandom(900 * 900 * 3)).save("noise.png")'
        B=$3
        echo old > out.png; echo no picture > bad.png
        thumb bad.png out.png | tail -n 1; cat out.png
        # Writing breaks off: the largest file that may be written is smaller than the thumbnail, which is made already.
        thumb noise.png made.png --size 900; (ulimit -f 16; trap '' XFSZ; thumb noise.png out.png --size 900); cat out.png
        : > made.png; (ulimit -f 16; trap '' XFSZ; thumb noise.png made.png --size 900); stat -c %s made.png
        # Whoever made an empty file for it reads what is in it by its descriptor.
        exec 3<made.png; thumb noise.png made.png -s 900; head -c 4 <&3 | od -An -c
        mkdir folder; thumb noise.png folder; thumb noise.png no/out.png
        thumb noise.png out.png --size 900; head -c 4 out.png | od -An -c; ln -s out.png link; thumb noise.png link -s 8
        ls; mkfifo fifo; thumb noise.png fifo
        # It has more to read than a pipe holds, and begins late.
        { sleep .3; cat; } < fifo > read.png & thumb noise.png fifo -s 900; wait; cmp read.png out.png
        thumb noise.png /dev/null; thumb noise.png /dev/full
        """
      let said = try await shell(lines, scratch.path, MountScratch.python, MountProcess.binary)
      let problem = "ffmount: cannot write the thumbnail to"
      #expect(
        said.text == """
          status 1
          old
          status 0
          \(problem) out.png: File too large (permit larger files: ulimit -f unlimited)
          status 1
          old
          \(problem) made.png: File too large (permit larger files: ulimit -f unlimited)
          status 1
          0
          status 0
           211   P   N   G
          \(problem) folder: Is a directory (give another file)
          status 1
          \(problem) no/out.png: No such file or directory (make it with: mkdir -p no)
          status 1
          status 0
           211   P   N   G
          status 0
          bad.png
          cache
          folder
          link
          made.png
          mnt
          noise.png
          out.png
          source
          \(problem) fifo: the pipe has no reader
          status 1
          status 0
          status 0
          \(problem) /dev/full: No space left on device (make room on the disk, or give another file)
          status 1

          """, "\(said.errors)")
    }
  }

  /// GNOME runs thumbnailers in a sandbox that lets them make none of their own kind: the other walls stand there.
  @Test func thumbnailsWorkInsideAnotherSandbox() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; export XDG_CACHE_HOME=$1/cache; "$2" -c 'from PIL import Image; Image.new("RGB", (90, 60)).save("a.png")'
        confined() { "$2" "$3/Tests/Scripts/confined.py" "${@:4}"; }
        "${4%/*}/ffconvert" --check-sandbox 2>&1 | grep -q landlock || exit 78
        confined "${@:1:3}" true || exit
        confined "${@:1:3}" unshare -r true 2>&1 | grep -o 'not permitted'
        confined "${@:1:3}" "${4%/*}/ffconvert" --check-sandbox 2>&1 | head -n 1
        confined "${@:1:3}" "$4" thumbnail a.png out.png -s 30; file -b out.png | cut -d, -f1,2
        """
      let said = try await shell(
        lines, scratch.path, MountScratch.python, MountScratch.package, MountProcess.binary)
      if [77, 78].contains(said.status) { try Test.cancel("needs Landlock, and a filter for this processor") }
      try #require(said.lines.count == 3, "\(said)")
      let walls = said.lines[1]
      #expect(walls.contains("landlock") && walls.contains("seccomp") && !walls.contains("namespaces"), "\(walls)")
      #expect(said.lines[0] == "not permitted" && said.lines[2] == "PNG image data, 30 x 20", "\(said)")
    }
  }
}
