import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe", "sox"].allSatisfy { MountScratch.has($0) }

/// Sound as other formats, through a mount, looked at by other programs.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: hasPrograms, "needs ffmpeg and sox"))
struct SoundTests {
  /// Two seconds of a plucked string, as files of several formats, one of them with tags, chapters and a cover.
  private static let making = """
    cd $S; exec 2>&1
    sox -R -n -r 44100 -c 2 -b 16 s.wav synth 2.003 pluck C3 pluck E3
    printf ';FFMETADATA1\\ntitle=Grüße\\nartist=Sängerin 歌\\nalbum=A\\ntrack=3\\ndate=2001\\ngenre=Jazz\\ncomment=Nur so\\n' > $O/t
    printf '[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=0\\nEND=1000\\ntitle=Eins\\n[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=1000\\nEND=2003\\ntitle=Zwei\\n' >> $O/t
    q="ffmpeg -v error -nostdin -y"
    $q -f lavfi -i testsrc=s=64x64:d=0.04 -frames:v 1 $O/c.jpg
    $q -i s.wav -i $O/t -i $O/c.jpg -map 0:a -map 2 -map_metadata 1 -map_chapters 1 -c:v copy -disposition:v attached_pic t.mp3
    $q -i s.wav -i $O/t -i $O/c.jpg -map 0:a -map 2 -map_metadata 1 -c:v copy -disposition:v attached_pic t.flac
    $q -f lavfi -i testsrc=s=64x48:d=2 -i s.wav -i s.wav -map 0 -map 1 -map 2 -c:v mpeg4 -c:a:0 aac -c:a:1 libopus f.mkv
    cd ~-

    """

  private func shell(_ lines: String) async throws -> String {
    try await withScratch { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        try await mount.shell(Self.making + lines, scratch, limit: 120)
      }
    }
  }

  @Test func sizesAreExactBeforeAnythingIsMade() async throws {
    let said = try await shell(
      """
      for n in t.flac.as-mp3 s.wav.64k.mono.as-mp3 t.mp3.22050hz.as-mp3 f.mkv.as-mp3 t.flac.as-opus t.flac.2x.as-mp3 \\
        t.mp3.as-wav t.flac.48khz.24bit.as-wav t.flac.as-aiff s.wav.mono.as-au t.flac.as-caf t.flac.500ms-1s.as-w64; do
        a=$(stat -c %s $n); b=$(cat $n | wc -c); [ $a = $b ] && [ $b -gt 1000 ] || echo "$n: $a, $b"
      done
      """)
    #expect(said == "")
  }

  @Test func samplesAreAllThereAndNoOthers() async throws {
    let said = try await shell(
      """
      pcm() { ffmpeg -v error -nostdin -i $1 -f s16le - ; }
      for n in t.flac.as-wav t.flac.as-aiff t.flac.as-caf t.flac.as-au t.flac.as-w64 s.wav.as-flac t.flac.as-wv s.wav.as-voc; do
        pcm $n | cmp - <(pcm $S/s.wav)
      done
      for n in t.flac.as-mp3 t.flac.as-ogg t.mp3.as-wav t.flac.v4.as-mp3; do pcm $n | wc -c; done
      soxi -s t.flac.1s-.as-wav t.flac.500ms-1s500ms.as-flac t.flac.2x.as-wav t.flac.0,5x.as-wav
      pcm t.flac.500ms-1s.as-wav | cmp - <(pcm $S/s.wav | tail -c +88201 | head -c 88200)
      """)
    #expect(
      said == """
        353328
        353328
        353328
        353328
        44232
        44100
        44166
        176664

        """)
  }

  /// What starts in the middle is decoded from there.
  @Test func anyPartIsTheSameAsInTheWhole() async throws {
    let said = try await shell(
      """
      for n in t.flac.as-wav t.mp3.as-wav t.mp3.48khz.as-aiff t.flac.24bit.mono.as-caf; do
        cat $n > $O/w; s=$(stat -c %s $n)
        for at in 0 33 7001 150000 $((s - 5)); do
          tail -c +$((at + 1)) $n | head -c 4097 | cmp - <(tail -c +$((at + 1)) $O/w | head -c 4097)
        done
      done
      """)
    #expect(said == "")
  }

  @Test func whatFitsIsCopied() async throws {
    let said = try await shell(
      """
      hash() { ffmpeg -v error -nostdin -i $1 -map 0:a:${2:-0} -c copy -f streamhash - | cut -d= -f2; }
      [ $(hash f.mkv.as-m4a) = $(hash $S/f.mkv) ] && echo same
      [ $(hash f.mkv.track2.as-opus) = $(hash $S/f.mkv 1) ] && echo same
      [ $(hash t.mp3.as-mka) = $(hash $S/t.mp3) ] && echo same
      cat f.mkv.track3.as-mp3
      """)
    #expect(said == "same\nsame\nsame\ncat: f.mkv.track3.as-mp3: No such file or directory\n")
  }

  @Test func tagsChaptersAndCoverGoAlong() async throws {
    let said = try await shell(
      """
      for n in t.flac.as-mp3 t.mp3.as-m4a t.flac.as-opus t.flac.as-ogg t.mp3.as-flac; do
        ffmpeg -v error -nostdin -i $n -map 0:v -c copy -f image2pipe - | cmp - $O/c.jpg
        ffprobe -v error -show_entries format_tags=title,artist,album,track,date,genre,comment:stream_tags=title,artist,album,track,date,genre,comment -of default=nk=1 $n |
          grep -cE '^(TAG:)?(Grüße|Sängerin 歌|A|3|2001|Jazz|Nur so)$'
      done
      for n in t.mp3.as-m4a t.mp3.as-opus t.mp3.as-mp3; do
        ffprobe -v error -show_chapters -of csv=p=0 $n | cut -d, -f7 | tr '\\n' ' '
      done
      """)
    #expect(said == "7\n7\n7\n7\n7\nEins Zwei Eins Zwei Eins Zwei ")
  }

  /// Each format as a file that another program decodes, as long as the source to some hundredths of a second.
  @Test func everyFormatOpensElsewhere() async throws {
    let said = try await shell(
      """
      for f in mp3 wav flac m4a aac ogg oga opus ac3 wma aiff mp2 gsm dts au snd caf wv w64 voc spx ircam mka; do
        cat s.wav.as-$f > $O/x.$f
        n=$(ffmpeg -v error -nostdin -i $O/x.$f -ac 1 -ar 8000 -f s16le - | wc -c)
        [ $n -gt 31300 ] && [ $n -lt 33100 ] || echo "$f: $n"
      done
      getfattr --only-values -n user.ffmount.remark s.wav.as-gsm; echo
      ls | grep as-
      ls s.wav.v12.as-mp3 s.wav.v2.as-flac s.wav.128k.as-wav s.wav.mono.stereo.as-mp3 s.wav.9x.as-mp3
      """)
    #expect(
      said == """
        has 8000 Hz instead of 44100 and one channel instead of 2, for which the format has no place
        s.wav.as-mp3
        t.flac.as-mp3
        ls: cannot access 's.wav.v12.as-mp3': No such file or directory
        ls: cannot access 's.wav.v2.as-flac': No such file or directory
        ls: cannot access 's.wav.128k.as-wav': No such file or directory
        ls: cannot access 's.wav.mono.stereo.as-mp3': No such file or directory
        ls: cannot access 's.wav.9x.as-mp3': No such file or directory

        """)
  }
}
