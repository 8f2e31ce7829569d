import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe"].allSatisfy { MountScratch.has($0) }

/// What words in the names of films ask for, and what is there when the films are whole.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasPrograms, "needs ffmpeg"))
struct FilmNameTests {
  private func shell(_ lines: String) async throws -> String {
    let films = """
      q='ffmpeg -v error -nostdin -y'
      $q -f lavfi -i testsrc2=s=640x360:d=4 -f lavfi -i sine=d=4 -c:v mpeg4 -c:a libmp3lame $S/a.avi

      """
    return try await withScratch { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        try await mount.shell(films + lines, scratch, limit: 150)
      }
    }
  }

  @Test func filmNamesAcceptDecimalsAndSizeLimits() async throws {
    let said = try await shell(
      """
      for n in 333px.mp4 crop=321x181+11+21.mp4 crop=321x181+11+21.webm 29.97fps.mp4 23,976fps.mp4 12.5fps.mp4; do
        cat a.avi.${n%.*}.as-${n##*.} > $O/x
        echo $(ffprobe -v error -select_streams v -show_entries stream=width,height,r_frame_rate -of csv=p=0 $O/x)
      done
      for n in 1.5s-2.5s 0.5x.1.5s-2.5s 2x.0.5s-1.5s; do
        cat a.avi.mute.180p.$n.as-webm > $O/x
        ffprobe -v error -count_packets -select_streams v -show_entries stream=nb_read_packets -of csv=p=0 $O/x
      done
      cp a.avi $S/b.1.avi; cp a.avi $S/b.1; ls b.1.avi.5s-9s.as-mp3 b.1.5s-9s.as-mp3
      cat a.avi.200k.as-mp4 > $O/x; cat a.avi.2M.as-mp4 > $O/y
      [ $(($(stat -c %s $O/x) * 3)) -lt $(stat -c %s $O/y) ] || echo "the rate is not kept"
      """)
    #expect(
      said == """
        332,188,25/1
        320,180,25/1
        321,181,25/1
        640,360,30000/1001
        640,360,24000/1001
        640,360,25/2
        25
        25
        13
        b.1.5s-9s.as-mp3
        b.1.avi.5s-9s.as-mp3

        """)
  }

  @Test func convertedFilmsHaveDurationAndIndex() async throws {
    let said = try await shell(
      """
      for k in mkv webm; do
        cp a.avi.180p.as-$k $O/x.$k; ffprobe -v error -show_entries format=duration -of csv=p=0 $O/x.$k | cut -c1-3
        python3 -Ic 'import sys; print(b"\\x1c\\x53\\xbb\\x6b" in open(sys.argv[1], "rb").read()[:8192])' $O/x.$k
      done
      """)
    #expect(said == "4.0\nTrue\n4.0\nTrue\n")
  }

  @Test func subtitlesAndAnimatedImagesAreSources() async throws {
    let said = try await shell(
      """
      printf '1\\n00:00:01,000 --> 00:00:02,500\\nEins\\n\\n' > $O/1.srt; sed s/Eins/Zwei/ $O/1.srt > $O/2.srt
      $q -i $S/a.avi -i $O/1.srt -i $O/2.srt -map 0 -map 1 -map 2 -c copy -c:s srt $S/s.mkv
      cat s.mkv.as-srt; cat s.mkv.track2.as-vtt; cat s.mkv.track3.as-srt 2> $O/e || getfattr --only-values -n user.ffmount.error s.mkv.track3.as-srt
      echo; $q -f lavfi -i testsrc=s=64x48:d=1:r=10 $S/i.gif; cat i.gif.as-mp4 > $O/i.mp4
      ffprobe -v error -count_packets -show_entries stream=codec_name,width,nb_read_packets -of csv=p=0 $O/i.mp4
      """)
    #expect(
      said == """
        1
        00:00:01,000 --> 00:00:02,500
        Eins

        WEBVTT

        00:01.000 --> 00:02.500
        Zwei
        s.mkv: has 2 subtitles only
        h264,64,10

        """)
  }

  /// The size of a sample, and the number of lengths, are a gibibyte.
  @Test func absurdSizeClaimsInFilmsAreRefused() async throws {
    let said = try await shell(
      """
      $q -f lavfi -i testsrc=s=64x48:d=1 -f lavfi -i sine=d=1 -c:v mpeg4 -c:a aac $O/e.mp4
      python3 -Ic 'import sys
      b = open(sys.argv[1], "rb").read()
      for name, place in ((b"stsz", 20), (b"stts", 8)):
          m = bytearray(b); at = m.find(name) + place; m[at:at + 4] = bytes([63, 255, 255, 240])
          open(sys.argv[2] + "/" + name.decode() + ".mp4", "wb").write(m)' $O/e.mp4 $S
      for n in stsz stts; do
        cat $n.mp4.as-mkv 2>&1 > $O/x; getfattr --only-values -n user.ffmount.error $n.mp4.as-mkv | grep -c 'than any memory'
      done
      """)
    let lines = ["stsz", "stts"].map { "cat: \($0).mp4.as-mkv: Input/output error\n1\n" }
    #expect(said == lines.joined())
  }
}
