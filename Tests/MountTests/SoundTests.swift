import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe", "sox"].allSatisfy { MountScratch.has($0) }

/// Sound as other formats, through a mount, looked at by other programs.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasPrograms, "needs ffmpeg and sox"))
struct SoundTests {
  /// Two seconds of plucked strings as a WAV.
  private static let wave =
    "sox -R -n -r 44100 -c 2 -b 16 $S/s.wav synth 2.003 pluck C3 pluck E3; q='ffmpeg -v error -nostdin -y'\n"
  /// The same with tags, chapters and a cover.
  private static let tagged = """
    printf '%s\\n' ';FFMETADATA1' title=Grüße 'artist=Sängerin 歌' album=A track=3 date=2001 genre=Jazz > $O/t
    printf '%s\\n' 'comment=Nur so' '[CHAPTER]' TIMEBASE=1/1000 START=0 END=1000 title=Eins >> $O/t
    printf '%s\\n' '[CHAPTER]' TIMEBASE=1/1000 START=1000 END=2003 title=Zwei >> $O/t
    $q -f lavfi -i testsrc=s=64x64:d=0.04 -frames:v 1 $O/c.jpg
    cover="-map 0:a -map 2 -map_metadata 1 -c:v copy -disposition:v attached_pic"
    $q -i $S/s.wav -i $O/t -i $O/c.jpg -map_chapters 1 $cover $S/t.mp3 $cover $S/t.flac

    """
  private static let plain = "$q -i $S/s.wav $S/t.flac; $q -i $S/s.wav $S/t.mp3\n"
  private static let film =
    "$q -f lavfi -i testsrc=s=64x48:d=1 -i $S/s.wav -map 0 -map 1 -map 1 -c:v mpeg4 -c:a:0 aac -c:a:1 libopus"
    + " $S/f.mkv\n"

  private func shell(_ lines: String...) async throws -> String {
    try await withScratch { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        try await mount.shell(Self.wave + lines.joined(), scratch, limit: 120)
      }
    }
  }

  @Test func soundSizesAreExactAndRangesMatchTheWhole() async throws {
    let said = try await shell(
      Self.plain, Self.film,
      """
      $q -i $S/s.wav $S/t.m4a; $q -i $S/s.wav $S/t.opus; $q -i $S/s.wav $S/t.ogg; $q -i $S/s.wav $S/t.ac3
      for n in t.m4a.as-wav t.opus.44100hz.as-wav t.ogg.mono.as-caf t.ac3.as-w64 f.mkv.track2.as-wav t.flac.2x.as-aiff \\
        t.flac.as-mp3 s.wav.64k.mono.as-mp3 t.mp3.22050hz.as-mp3 f.mkv.as-mp3 t.flac.as-opus t.flac.2x.as-mp3 \\
        t.flac.as-amr t.mp3.7k.as-amr t.flac.as-awb s.wav.9k.as-awb \\
        t.flac.as-aiff s.wav.mono.as-au t.flac.500ms-1s.as-w64; do
        a=$(stat -c %s $n); b=$(cat $n | wc -c); [ $a = $b ] && [ $b -gt 1000 ] || echo "$n: $a, $b"
      done
      sox -R -n -r 48000 -c 2 -b 16 $S/n.flac synth 20 pinknoise vol .5
      for n in t.flac.as-wav t.mp3.as-wav t.mp3.48khz.as-aiff t.flac.24bit.mono.as-caf n.flac.16000hz.as-wav \
        n.flac.8000hz.as-wav; do
        s=$(stat -c %s $n); places="$((s - 5)) 1048576 480003 150000 65536 7001 33 0"
        for at in $places; do tail -c +$((at + 1)) $n | head -c 4097 | md5sum >> $O/parts; done
        # Of another file, of which the kernel has no parts.
        f=$(echo $n | cut -d. -f 1,2); [ -e $S/w$f ] || cp $S/$f $S/w$f
        cat w$n > $O/w; [ $s = $(stat -c %s $O/w) ] || echo "$n: $s"
        for at in $places; do tail -c +$((at + 1)) $O/w | head -c 4097 | md5sum >> $O/wholes; done
      done
      cmp $O/parts $O/wholes && wc -l < $O/parts
      """)
    #expect(said == "48\n")
  }

  /// What cannot be decoded is silent in its place, and that is said; what is no sound is not counted.
  @Test func damagedSoundIsSilentAndReported() async throws {
    let said = try await shell(
      """
      $q -i $S/s.wav $S/t.flac; $q -i $S/s.wav -write_xing 0 $O/n.mp3; $q -i $S/s.wav $S/t.m4a
      { head -c 60000 $S/t.flac; head -c 9000 /dev/zero; tail -c +69001 $S/t.flac; } > $S/hole.flac
      { head -c 20000 $S/t.m4a; head -c 2000 /dev/urandom; tail -c +22001 $S/t.m4a; } > $S/hole.m4a
      { cat $O/n.mp3; printf APETAGEX; head -c 900 /dev/zero; } > $S/n.mp3
      said() { getfattr --only-values -n user.ffmount.remark $1 2> $O/e | sed 's/[0-9.][0-9.]* s/N s/g'; echo; }
      for n in t.flac.as-wav hole.flac.as-wav hole.flac.as-mp3 hole.m4a.as-wav; do
        [ $(stat -c %s $n) = $(cat $n | wc -c) ] || echo "$n: size"
        said $n
      done | sed 's/lacks.*packets* that/lacks packets that/'
      [ $(stat -c %s t.flac.as-wav) = $(stat -c %s hole.flac.as-wav) ] && echo same
      echo $(($($q -i $S/n.mp3 -f s16le - | wc -c) + 44 - $(stat -c %s n.mp3.as-wav)))
      $q -i $S/s.wav $S/days.wv
      python3 -Ic 'import re, sys
      b = bytearray(open(sys.argv[1], "rb").read()); blocks = [m.start() for m in re.finditer(b"wvpk", b)]
      for i in blocks: b[i + 12:i + 16] = bytes([255, 255, 255, 127])
      b[blocks[-1] + 16:blocks[-1] + 20] = bytes([0, 0, 0, 80]); open(sys.argv[1], "wb").write(b)' $S/days.wv
      cat days.wv.as-mp3 > $O/x 2> $O/e || getfattr --only-values -n user.ffmount.error days.wv.as-mp3
      """)
    let hole = "hole.flac is silent for N s from N s on, where it is damaged\n"
    let lacking = "hole.m4a lacks packets that cannot be decoded; is silent for its last N s\n"
    let days = "days.wv: has no sound that can be decoded from 2 s to 30434 s"
    #expect(said == "\n" + hole + hole + lacking + "same\n0\n" + days)
  }

  /// Whoever waits for its result has an error with a reason; the next one has another worker.
  @Test func killedMediaWorkerCausesOneError() async throws {
    let said = try await shell(
      """
      sox -n -r 48000 -c 2 -b 16 $S/long.wav synth 240 pinknoise vol .5
      cat long.wav.as-mp3 > $O/x & c=$!
      for i in $(seq 3000); do [ -s $O/x ] && break; sleep .01; done
      kill -KILL $(pgrep -P $P ffmedia); wait $c && echo whole
      getfattr --only-values -n user.ffmount.error long.wav.as-mp3; echo
      cat s.wav.as-ogg | head -c 4; echo; $q -i long.wav.1s-2s.as-ogg -f s16le - | wc -c
      """)
    let reason = "long.wav: the converter was killed (SIGKILL)"
    #expect(said == "cat: long.wav.as-mp3: Input/output error\n\(reason)\nOggS\n192000\n")
  }

  /// What cannot be played is refused, and of what ends before its time that is said.
  @Test func truncatedAndEncryptedMediaAreReported() async throws {
    let said = try await shell(
      """
      $q -f lavfi -i testsrc=d=6:s=64x48 -f lavfi -i sine=d=6 -c:v libx264 -c:a aac -movflags faststart $O/a.mp4
      $q -i $O/a.mp4 -c copy $O/a.mkv; $q -i $O/a.mp4 $O/a.flac
      for f in mp4 mkv flac; do head -c $(($(stat -c %s $O/a.$f) / 2)) $O/a.$f > $S/cut.$f; cp $O/a.$f $S; done
      for k in 00112233445566778899aabbccddeeff; do
        $q -i $O/a.mp4 -c copy -encryption_scheme cenc-aes-ctr -encryption_key $k -encryption_kid $k $S/locked.mp4
      done
      for n in a.mp4.as-mkv a.mkv.as-mp4 a.flac.as-mp3 cut.mp4.as-mkv cut.mkv.as-mp4 cut.flac.as-mp3 locked.mp4.as-mkv; do
        cat $n > $O/x 2> $O/e && { getfattr --only-values -n user.ffmount.remark $n 2> $O/e | sed 's/after [0-9]* s/early/; s/; is silent.*//'
        echo; } || getfattr --only-values -n user.ffmount.error $n
      done
      """)
    let early = ["mp4", "mkv", "flac"].map { "cut.\($0) ends early, though it says that it lasts 6 s\n" }.joined()
    #expect(said == "\n\n\n" + early + "locked.mp4: is encrypted")
  }

  /// A lost end is told of every container, and an offset of the start is none.
  @Test func lostEndsAndOffsetsAreToldApart() async throws {
    let said = try await shell(
      """
      for f in caf w64 ogg opus; do $q -i $S/s.wav $O/a.$f; head -c $(($(stat -c %s $O/a.$f) * 9 / 10)) $O/a.$f > $S/cut.$f; done
      $q -i $S/s.wav -c:a aac $O/a.mka; $q -itsoffset 10 -i $O/a.mka -c copy $S/off.mka; cp $O/a.caf $O/a.w64 $O/a.opus $S
      for n in a.caf a.w64 a.opus off.mka cut.caf cut.w64 cut.ogg cut.opus; do
        cat $n.as-wav > $O/x; echo $(getfattr --only-values -n user.ffmount.state $n.as-wav) $(getfattr --only-values \
        -n user.ffmount.remark $n.as-wav 2> $O/e | sed 's/after.*though/early, though/; s/ [0-9.]* s$/ N s/')
      done
      """)
    let early = ["caf", "w64"].map { "failed cut.\($0) ends early, though it says that it lasts N s\n" }
    let lacking = ["ogg", "opus"].map { "failed cut.\($0) lacks 1 page that is damaged\n" }
    #expect(said == "exact\nexact\nexact\nexact\n" + (early + lacking).joined())
  }

  /// A late recording and an interrupted one lack the same pages as a file whose start or end is lost.
  @Test func partsOfOggRecordingsAreNotCalledWhole() async throws {
    let said = try await shell(
      """
      for f in ogg opus; do $q -i $S/s.wav -page_duration 200000 $O/a.$f; done
      python3 - $O/a.ogg $O/a.opus $S <<'END'
      import os, sys
      for path in sys.argv[1:3]:
          data, pages, place = open(path, "rb").read(), [], 0
          while place < len(data):
              count = data[place + 26]
              size = 27 + count + sum(data[place + 27:place + 27 + count])
              pages.append(data[place:place + size])
              place += size
          assert len(pages) > 5
          # Two pages of headers come first.
          kinds = {"whole": pages, "start": pages[:2] + pages[3:], "end": pages[:-1], "twice": pages[:4] + pages[3:]}
          for name, kept in kinds.items():
              open(os.path.join(sys.argv[3], name + "." + path.split(".")[-1]), "wb").write(b"".join(kept))
      END
      for n in whole start end twice; do for f in ogg opus; do
        cat $n.$f.as-wav > $O/x; for a in state remark; do getfattr --only-values -n user.ffmount.$a $n.$f.as-wav 2> $O/e; echo; done
      done; done
      """)
    let signs = [
      ("start", "begins with page 3 of its recording"), ("end", "has no last page, and may be cut off"),
      ("twice", "has pages twice, or not in order"),
    ]
    let remarks = signs.flatMap { name, lack in ["ogg", "opus"].map { "unverified\n\(name).\($0) \(lack)\n" } }
    #expect(said == "exact\n\nexact\n\n" + remarks.joined())
  }

  /// Formats without padding count every sample, and frames of FLAC have numbers.
  @Test func everySampleOfLosslessSoundCounts() async throws {
    let said = try await shell(
      """
      for f in wav aiff au caf w64; do $q -i $S/s.wav $O/a.$f; head -c -1 $O/a.$f > $S/short.$f; cp $O/a.$f $S/whole.$f; done
      $q -i $S/s.wav $O/a.flac; $q -i $S/s.wav -af atrim=end_sample=48001 -ac 1 -c:a pcm_s24le $S/padded.w64
      python3 - $O/a.flac $S/late.flac $(ffprobe -v error -show_entries packet=pos,size -of csv=p=0 $O/a.flac | head -1 | tr , ' ') <<'END'
      import sys
      data, size, place = open(sys.argv[1], "rb").read(), int(sys.argv[3]), int(sys.argv[4])
      assert data[place] == 0xff
      open(sys.argv[2], "wb").write(data[:place] + data[place + size:])
      END
      for n in whole.wav padded.w64 short.wav short.aiff short.au short.caf short.w64 late.flac; do
        cat $n.as-wav > $O/x; echo $(getfattr --only-values -n user.ffmount.state $n.as-wav) $(getfattr --only-values \
        -n user.ffmount.remark $n.as-wav 2> $O/e)
      done
      $q -i s.wav $O/s.w64; cat late.flac.as-w64 | tail -c 100000 | cmp - <(tail -c 100000 $O/s.w64)
      """)
    let short = ["wav", "aiff", "au", "caf", "w64"].map { "failed short.\($0) lacks its last sample\n" }.joined()
    #expect(said == "exact\nexact\n\(short)failed late.flac is silent for 0.11 s from 0 s on, where it is damaged\n")
  }

  /// Times in Matroska are whole milliseconds, and the encoder's delay is not the same everywhere.
  @Test func extraSamplesOfCopiedSoundAreReported() async throws {
    let said = try await shell(
      """
      $q -i $S/s.wav -ar 48000 -c:a aac $S/t.mka; $q -i $S/s.wav -c:a libmp3lame -ar 32000 $S/l.mka; $q -i $S/s.wav $S/t.m4a
      for n in t.mka l.mka; do
        a=$($q -i $n -f s16le - | wc -c); b=$($q -i $n.as-wav -f s16le - | wc -c); [ $a = $b ] || echo "$n: $a, $b"
      done
      frames() { ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 $1; }
      [ $(($($q -i l.mka.as-mp3 -ac 1 -f s16le - | wc -c) / 2304)) = $(($(frames l.mka))) ] || echo "frames are cut"
      for n in l.mka.as-mp3 t.m4a.as-aac t.m4a.as-m4a; do
        cat $n > $O/x; getfattr --only-values -n user.ffmount.remark $n 2> $O/e | sed 's/[0-9.][0-9.]* s/N s/'; echo
      done
      """)
    let reason = "longer, because the format does not mark padding\n"
    #expect(said == "l.mka is N s \(reason)t.m4a is N s \(reason)\n")
  }

  /// FFmpeg writes none into FLAC, and a second late into Ogg.
  @Test func chaptersAreKeptWhereTheFormatAllows() async throws {
    let said = try await shell(
      """
      printf ';FFMETADATA1\\n[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=0\\nEND=700\\ntitle=A\\n' > $O/t
      printf '[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=700\\nEND=2003\\ntitle=B\\n' >> $O/t
      $q -i $S/s.wav -i $O/t -map_metadata 1 $S/b.m4b
      for k in opus ogg oga flac wav aiff mp3 m4a mka; do
        cat b.m4b.as-$k > $O/b.$k
        echo $k $(ffprobe -v error -show_entries chapter=start_time:chapter_tags=title -of csv=p=0 $O/b.$k)
      done
      ffprobe -v error -show_entries chapter=start_time -of csv=p=0 b.m4b.500ms-.as-wav
      """)
    let all = ["opus", "ogg", "oga", "flac", "wav", "aiff", "mp3", "m4a", "mka"]
    #expect(said == all.map { "\($0) 0.000000,A 0.700000,B\n" }.joined() + "0.000000\n0.200000\n")
  }

  @Test func convertedSoundHasExactlyTheSourceSamples() async throws {
    let said = try await shell(
      Self.plain,
      """
      pcm() { $q -i $1 -f s16le - ; }; pcm $S/s.wav > $O/w
      for n in t.flac.as-wav t.flac.as-aiff t.flac.as-caf t.flac.as-au t.flac.as-w64 s.wav.as-flac t.flac.as-wv \
        s.wav.as-voc; do
        pcm $n | cmp - $O/w
      done
      for n in t.flac.as-mp3 t.flac.as-ogg t.mp3.as-wav t.flac.v4.as-mp3; do pcm $n | wc -c; done
      soxi -s t.flac.1s-.as-wav t.flac.500ms-1s500ms.as-flac t.flac.2x.as-wav t.flac.0.5x.as-wav
      tail -c +88201 $O/w | head -c 88200 > $O/cut; pcm t.flac.500ms-1s.as-wav | cmp - $O/cut
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

  @Test func compatibleStreamsAreCopiedAndTagsKept() async throws {
    let said = try await shell(
      Self.tagged, Self.film,
      """
      hash() { $q -i $1 -map 0:a:${2:-0} -c copy -f streamhash - | cut -d= -f2; }
      [ $(hash f.mkv.as-m4a) = $(hash $S/f.mkv) ] && echo same
      [ $(hash f.mkv.track2.as-opus) = $(hash $S/f.mkv 1) ] && echo same
      [ $(hash t.mp3.as-mka) = $(hash $S/t.mp3) ] && echo same
      cat f.mkv.track3.as-mp3
      tags=title,artist,album,track,date,genre,comment
      for n in t.flac.as-mp3 t.mp3.as-m4a t.flac.as-opus t.flac.as-ogg t.mp3.as-flac; do
        $q -i $n -map 0:v -c copy -f image2pipe - | cmp - $O/c.jpg
        ffprobe -v error -show_entries format_tags=$tags:stream_tags=$tags -of default=nk=1 $n |
          grep -cE '^(TAG:)?(Grüße|Sängerin 歌|A|3|2001|Jazz|Nur so)$'
      done
      for n in t.mp3.as-m4a t.mp3.as-opus t.mp3.as-mp3; do
        ffprobe -v error -show_chapters -of csv=p=0 $n | cut -d, -f7
      done | paste -sd' '
      """)
    #expect(
      said == """
        same
        same
        same
        cat: f.mkv.track3.as-mp3: No such file or directory
        7
        7
        7
        7
        7
        Eins Zwei Eins Zwei Eins Zwei

        """)
  }

  /// Each format as a file that another program decodes, as long as the source to some hundredths of a second.
  @Test func everySoundFormatIsDecodedByOtherPrograms() async throws {
    let said = try await shell(
      """
      for f in mp3 wav flac m4a aac ogg oga opus ac3 wma aiff mp2 gsm amr awb dts au snd caf wv w64 voc spx ircam mka; do
        cat s.wav.as-$f > $O/x.$f
        # FFmpeg 7's own decoder of Speex returns wideband frames twice as long as they are.
        d=; [ $f != spx ] || d='-c:a libspeex'
        n=$($q $d -i $O/x.$f -ac 1 -ar 8000 -f s16le - | wc -c)
        [ $n -gt 31300 ] && [ $n -lt 33100 ] || echo "$f: $n"
      done
      getfattr --only-values -n user.ffmount.remark s.wav.as-gsm; echo
      for n in amr awb; do
        ffprobe -v error -show_entries stream=codec_name,sample_rate,channels -of csv=p=0 $O/x.$n; cp $O/x.$n $S/y.$n
        cat y.$n.as-$n | cmp - $O/x.$n; $q -i $O/x.$n -f s16le - | sox -t raw -r 8k -e s -b 16 -c 1 - -n stat 2>&1 |
          awk '/RMS.*amp/ { print ($3 > 0.01) }'
      done
      $q -i $O/x.amr -c copy $S/y.3gp; cat y.3gp.as-amr | cmp - $O/x.amr && echo copied; rm $S/y.*
      file -b - < s.wav.800x200.waveform.as-png
      ls | grep as-
      for n in v12.as-mp3 v2.as-flac 128k.as-wav mono.stereo.as-mp3 9x.as-mp3; do ls s.wav.$n; done
      """)
    #expect(
      said == """
        s.wav has 8000 Hz instead of 44100 and one channel instead of 2, the limit of the format; \
        is 0.02 s longer, because the format does not mark padding
        amr_nb,8000,1
        1
        amr_wb,16000,1
        1
        copied
        PNG image data, 800 x 200, 8-bit/color RGBA, non-interlaced
        s.wav.as-mp3
        ls: cannot access 's.wav.v12.as-mp3': No such file or directory
        ls: cannot access 's.wav.v2.as-flac': No such file or directory
        ls: cannot access 's.wav.128k.as-wav': No such file or directory
        ls: cannot access 's.wav.mono.stereo.as-mp3': No such file or directory
        ls: cannot access 's.wav.9x.as-mp3': No such file or directory

        """)
  }
}
