import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe", "sox"].allSatisfy { MountScratch.has($0) }

/// Recordings that follow one another in a file, and recordings that lack a part, through a mount.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasPrograms, "needs ffmpeg and sox"))
struct RecordingsInARowTests {
  private static let tools = """
    q='ffmpeg -v error -nostdin -y'
    noise() { sox -R -n -r 48000 -c 2 -b 16 $2 synth $1 pinknoise vol .5; }
    pcm() { $q -i $1 -ar 48000 -ac 2 -f s16le - ; }
    remark() { getfattr --only-values -n user.ffmount.remark $1 2> $O/e; }
    noise 1 $O/a.wav; noise 2 $O/b.wav

    """

  private func shell(_ lines: String) async throws -> String {
    try await withScratch { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        try await mount.shell(Self.tools + lines, scratch, limit: 180)
      }
    }
  }

  @Test func allRecordingsInARowAreDecoded() async throws {
    let said = try await shell(
      """
      for f in a b; do
        $q -i $O/$f.wav -c:a libvorbis $O/$f.ogg; $q -i $O/$f.wav -c:a libopus $O/$f.opus
        $q -i $O/$f.wav -f ogg -c:a flac $O/$f.oga; $q -i $O/$f.wav $O/$f.flac; $q -i $O/$f.wav -c:a flac $O/$f.mka
      done
      for e in ogg opus oga flac mka; do cat $O/a.$e $O/b.$e > $S/ab.$e; cat $O/a.$e $O/a.$e > $S/aa.$e; done
      for e in ogg opus oga flac mka; do
        for t in wav flac opus; do
          echo $e $t $(($(pcm ab.$e.as-$t | wc -c) / 4)) $(($(pcm aa.$e.as-$t | wc -c) / 4))
        done
      done
      { pcm $O/a.wav; pcm $O/b.wav; } > $O/ab
      for n in ab.oga.as-wav ab.flac.as-wav ab.flac.as-flac ab.mka.as-aiff; do pcm $n | cmp - $O/ab; done
      cat ab.opus.as-opus > $O/x; remark ab.opus.as-opus
      """)
    let counts = ["ogg", "opus", "oga", "flac", "mka"].map { source in
      ["wav", "flac", "opus"].map { "\(source) \($0) 144000 96000\n" }.joined()
    }
    #expect(said == counts.joined() + "ab.opus is coded again, since it is 2 recordings in a row")
  }

  /// The second file is smaller than the first could be larger, or the first does not record its size.
  @Test func recordingsBehindUnknownSizesAreDecoded() async throws {
    let said = try await shell(
      """
      noise .05 $O/s.wav
      for f in a s; do $q -i $O/$f.wav $O/$f.flac; $q -i $O/$f.wav -c:a flac -f matroska - > $O/$f.mka; done
      for e in flac mka; do cat $O/a.$e $O/s.$e $O/s.$e > $S/a.$e; cat $O/s.$e $O/a.$e > $S/s.$e; cp $O/a.$e $S/one.$e; done
      for n in a.flac s.flac one.flac a.mka s.mka one.mka; do echo $(($(pcm $n.as-wav | wc -c) / 4)); done
      """)
    #expect(said == "52800\n50400\n48000\n52800\n50400\n48000\n")
  }

  /// The end of sound in a single page of Ogg can be within the last packet but one.
  @Test func shortVorbisKeepsItsLength() async throws {
    let said = try await shell(
      """
      for n in 500 2038 3234 13230; do
        sox -R -r 44100 -n -c 2 -b 16 $O/$n.wav synth 1 pinknoise vol .5 trim 0 ${n}s; $q -i $O/$n.wav -c:a libvorbis $S/$n.ogg
        cat $S/$n.ogg $S/$n.ogg $S/$n.ogg > $S/3-$n.ogg
      done
      count() { cat $1 > $O/c.wav; soxi -s $O/c.wav; }
      for n in 500 2038 3234 13230; do echo $n $(count $n.ogg.as-wav) $(count 3-$n.ogg.as-wav) $(count $n.ogg.as-aiff); done
      """)
    let lines = [500, 2038, 3234, 13230].map { "\($0) \($0) \(3 * $0) \($0)\n" }
    #expect(said == lines.joined())
  }

  /// The clock of a transport stream starts again where two were joined.
  @Test func joinedFilmsKeepAllPicturesAndSound() async throws {
    let said = try await shell(
      """
      $q -f lavfi -i testsrc=s=64x48:r=25:d=2 -i $O/b.wav -shortest -c:v mpeg2video -c:a mp2 $O/a.ts
      $q -f lavfi -i testsrc2=s=64x48:r=25:d=1 -i $O/a.wav -shortest -c:v mpeg2video -c:a mp2 $O/b.ts
      for f in a b; do $q -i $O/$f.ts -c copy -f vob $O/$f.mpg; $q -i $O/$f.ts -c copy $O/$f.mkv; done
      for e in ts mpg mkv; do cat $O/a.$e $O/b.$e > $S/ab.$e; cat $O/b.$e $O/a.$e > $S/ba.$e; done
      for n in ab.ts ba.ts ab.mpg ab.mkv; do
        cat $n.as-mp4 > $O/x.mp4
        ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 -select_streams v $O/x.mp4
        s=$(($(pcm $O/x.mp4 | wc -c) / 4)); [ $s -gt 140000 ] && [ $s -lt 150000 ] || echo "$n: $s samples"
      done
      """)
    #expect(said == "75\n75\n75\n75\n")
  }

  /// The checksums of frames tell more than their decoder does.
  @Test func soundWithWrongChecksumsIsSilentAndReported() async throws {
    let said = try await shell(
      """
      $q -i $O/b.wav $S/a.flac; $q -i $O/b.wav $S/a.wv; $q -i $O/b.wav $S/a.tta; $q -i $O/b.wav -f ogg -c:a flac $S/a.oga
      python3 -Ic 'import sys
      for name in sys.argv[1:]:
        b = bytearray(open(name, "rb").read()); b[len(b) // 2] ^= 4; open(name, "wb").write(b)' $S/a.*
      for n in a.flac.as-wav a.flac.as-flac a.wv.as-wav a.wv.as-wv a.tta.as-wav a.oga.as-wav a.oga.as-flac a.flac.as-mka; do
        cat $n > $O/x; remark $n > $O/r; grep -cE 'is silent for|damaged' $O/r
      done | uniq -c | tr -d ' '
      for n in a.flac.as-wav a.oga.as-flac a.wv.as-mka; do cat $n > $O/x; done; $q -i $O/b.wav -c:a libvorbis $S/b.ogg
      python3 -Ic 'import sys
      b = bytearray(open(sys.argv[1], "rb").read()); b[b.rindex(b"OggS") - 500] ^= 4; open(sys.argv[1], "wb").write(b)' $S/b.ogg
      cat b.ogg.as-wav > $O/x 2> $O/said; $q -i $O/b.wav $S/whole.flac; cat whole.flac.as-wav > $O/x
      for n in a.flac.as-wav a.oga.as-flac a.wv.as-mka b.ogg.as-wav whole.flac.as-wav; do
        getfattr --only-values -n user.ffmount.state $n; echo
      done | uniq -c | tr -d ' '
      """)
    #expect(said == "81\n4failed\n1exact\n")
  }

  @Test func cutSoundIsReportedInEachFormat() async throws {
    let said = try await shell(
      """
      noise 10 $O/s.wav; $q -i $O/s.wav $O/s.flac; $q -i $O/s.flac -c copy $O/s.mka; $q -i $O/s.wav $O/s.mp3
      for f in wav flac mka mp3; do
        n=$(stat -c %s $O/s.$f)
        for k in 30 80 95; do head -c $((n * k / 100)) $O/s.$f > $S/c$k.$f; done; cp $O/s.$f $S/c.$f
      done
      for f in wav flac mka mp3; do
        for t in wav flac mka mp3; do
          cat c30.$f.as-$t > $O/x 2> $O/e && echo "c30.$f.as-$t: no error"
          getfattr --only-values -n user.ffmount.error c30.$f.as-$t | grep -q 'ends after' || echo "c30.$f.as-$t: no reason"
          for k in 80 95; do
            cat c$k.$f.as-$t > $O/x; remark c$k.$f.as-$t | grep -q 'ends after' || echo "c$k.$f.as-$t: no remark"
          done
          cat c.$f.as-$t > $O/x; remark c.$f.as-$t | grep 'ends after'
        done
      done
      """)
    #expect(said == "")
  }

  @Test func bytesDoNotDependOnEarlierReads() async throws {
    let said = try await shell(
      """
      $q -i $O/a.wav $O/a.flac; $q -i $O/a.wav $O/a.mp3
      for e in flac mp3; do
        { cat $O/a.$e; head -c 300 /dev/zero; tail -c +200 $O/a.$e; } > $S/one.$e; cp $S/one.$e $S/two.$e
        for t in wav flac opus; do cat one.$e.as-$t | md5sum; done > $O/1
        for t in opus flac wav; do cat two.$e.as-$t | md5sum; done > $O/2
        sort $O/1 > $O/1s; sort $O/2 | diff - $O/1s > $O/x && echo same || echo $e
      done
      sox -R -n -r 44100 -c 2 -b 16 $O/m.wav synth 1 sine 440; $q -i $O/m.wav $S/m.mp3; cat m.mp3.as-mka > $O/x
      remark m.mp3.as-mka | sed 's/[0-9.]* s/N s/'
      """)
    #expect(said == "same\nsame\nm.mp3 is N s longer, because the format does not mark padding")
  }
}
