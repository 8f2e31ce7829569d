import Foundation
import TestSupport
import Testing

/// Pictures of kinds that the libraries read wrongly or not at all have the pixels that Pillow has.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OddPictureTests {
  /// White is the largest integer of 32 bits, or 1.
  @Test func wideSamplesOfTIFFAreScaled() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1/source"; convert -size 40x64 gradient: -colorspace gray -depth 8 gray.png
        convert gray.png -depth 32 gray.tif; convert rose: -depth 32 colours.tif; convert rose: colours.png
        convert gray.png -depth 32 -define quantum:format=floating-point fraction.tif; cp gray.png fraction.png
        """, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let look = """
          for f in gray colours fraction; do
            compare -metric AE -fuzz 1% $f.png png:$f.tif.as-png null: 2>&1; echo
          done
          """
        let said = try await mount.shell(look, scratch)
        #expect(said == "0\n0\n0\n")
      }
    }
  }

  @Test func pixelsOfUnusualPicturesAreCorrect() async throws {
    try await withScratch { scratch in
      try await script("odd_pictures.py", "make", scratch.source)
      let count = try FileManager.default.contentsOfDirectory(atPath: scratch.source).count
      #expect(count > 200)
      try await withMount(scratch) { mount in
        let said = try await script("odd_pictures.py", "check", scratch.source, scratch.mountpoint, limit: 200)
        #expect(said.text == "right: \(count)\n")
      }
    }
  }

  /// A PNG has at most one chunk of EXIF data, whatever it is made of, and no text that turns it again.
  @Test func convertedPNGHasOneEXIFChunk() async throws {
    try await withScratch { scratch in
      let make = """
        import struct, sys
        from PIL import Image, PngImagePlugin
        picture = Image.new("RGB", (300, 200), (10, 200, 30))
        exif = b"II" + struct.pack("<HIHHHI4sHHIHHI", 42, 8, 2, 0x110, 2, 4, b"cam\\0", 0x112, 3, 1, 6, 0, 0)
        picture.save("a.jpg", exif=b"Exif\\0\\0" + exif)
        picture.save("b.webp", exif=exif, lossless=True)
        picture.save("c.png", exif=exif)
        text = PngImagePlugin.PngInfo()
        text.add_text("Raw profile type exif", "\\nexif\\n%8d\\n%s\\n" % (len(exif), exif.hex()))
        picture.save("d.png", pnginfo=text)
        """
      let made = try await shell(
        "cd \"$1/source\"; /usr/bin/python3 -c \"$2\"", scratch.path, make)
      try #require(made.status == 0, "\(made.errors)")
      let read = """
        import struct, sys
        for name in ("a.jpg", "b.webp", "c.png", "d.png"):
            for change in ("", ".100px", ".noexif", ".40k"):
                data, place, chunks = open(f"{name}{change}.as-png", "rb").read(), 8, []
                while place < len(data):
                    size, = struct.unpack(">I", data[place : place + 4])
                    chunks.append(data[place + 4 : place + 8].decode() + ("-profile" if b"Raw profile" in data[place + 8 : place + 40] else ""))
                    place += 12 + size
                sides = struct.unpack(">II", data[16:24])
                count = chunks.count("eXIf")
                if count > 1 or change == ".noexif" and count or chunks[-1] != "IEND" or sides[0] > sides[1] or any("profile" in c for c in chunks):
                    print(name + change, sides, chunks)
        """
      try await withMount(scratch) { _ in
        let said = try await shell("cd \"$1\"; /usr/bin/python3 -c \"$2\"", scratch.mountpoint, read)
        #expect(said.text == "" && said.status == 0, "\(said.errors)")
      }
    }
  }

  /// A sequence of AVIF is its first picture.
  @Test func avifSequenceYieldsItsFirstPicture() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1/source"; /usr/bin/python3 -c "from PIL import Image; Image.radial_gradient('L').save('a.png')"
        heif-enc -q -A a.png -o still.avif > ../log 2>&1 || heif-enc -A a.png -o still.avif > ../log 2>&1 || exit 77
        cp still.avif moving.avif; printf avis | dd of=moving.avif bs=1 seek=8 conv=notrunc 2>> ../log
        """, scratch.path)
      try #require(made.status == 0 || made.status == 77, "\(made.errors)")
      if made.status == 77 { return }
      try await withMount(scratch) { mount in
        let said = try await mount.shell("cmp still.avif.as-png moving.avif.as-png && echo same", scratch)
        #expect(said == "same\n")
      }
    }
  }
}
