import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe", "sox"].allSatisfy { MountScratch.has($0) }

/// `FOLDER.merged.mp3`, `.merged.mp4` and others, through a mount, looked at by other programs.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasPrograms, "needs ffmpeg and sox"))
struct JoinTests {
  /// How long each chapter is and its title, then how many samples there are, and what is said of it.
  private static let show = """
    q='ffmpeg -v error -nostdin -y'
    show() {
      cat $1 > $O/x.${1##*.} || { getfattr --only-values -n user.ffmount.error $1; echo; return; }
      ffprobe -v error -show_chapters -of csv=p=0 $O/x.${1##*.} | awk -F, '{ printf "%.1f-%.1f %s,", $4, $6, $7 }'
      echo " $($q -i $O/x.${1##*.} -map 0:a? -ac 1 -f s16le - 2> $O/e | wc -c)"
      getfattr --only-values -n user.ffmount.remark $1; echo
    }

    """

  private func shell(_ lines: String...) async throws -> String {
    try await withScratch { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        try await mount.shell(Self.show + lines.joined(), scratch, limit: 120)
      }
    }
  }

  /// As real files that are no sound: whether a member's bytes are wrong, or cannot be had at all.
  @Test func damagedArchiveMembersAreOmittedFromMerge() async throws {
    let said = try await shell(
      """
      mkdir $O/d; for i in 1 2 3; do sox -R -n -r 8000 -c 1 -b 16 $O/d/$i.wav synth 1.0 sine ${i}00; done
      (cd $O; zip -q -0 $S/wrong.zip d/1.wav d/2.wav d/3.wav); cp $S/wrong.zip $S/lost.zip; python3 - $S <<'P'
      import sys
      for name, changes in (("wrong", [(b"PK\\3\\4", 3000)]), ("lost", [(b"PK\\3\\4", 8), (b"PK\\1\\2", 10)])):
          with open(f"{sys.argv[1]}/{name}.zip", "r+b") as file:
              data = file.read()
              for mark, offset in changes:
                  place = data.rindex(mark) + offset
                  file.seek(place); file.write(bytes([data[place] ^ 13]))
      P
      for a in wrong lost; do show $a.zip.contents/d.merged.flac | cut -d' ' -f1-14; done
      """)
    #expect(
      said == """
        0.0-1.0 1,1.0-2.0 2, 32000
        wrong.zip.contents/d is made of 2 files, without a loss; left out: 3.wav expected CRC-32
        0.0-1.0 1,1.0-2.0 2, 32000
        lost.zip.contents/d is made of 2 files, without a loss; left out: 3.wav expected compression

        """)
  }

  @Test func mergedSoundsHaveNoGaps() async throws {
    let said = try await shell(
      """
      mkdir $S/alike $S/mixed $S/plain $S/none
      sox -R -n -r 44100 -c 2 -b 16 $O/a.wav synth 2.0 pluck C3 pluck E3; sox -R -n -r 44100 -c 2 -b 16 $O/b.wav synth 1.1 pluck G3
      $q -i $O/a.wav -metadata title=Erste -metadata album=Buch $S/alike/2.mp3
      $q -i $O/b.wav -metadata album=Buch $S/alike/10.mp3; cp $S/alike/2.mp3 $S/mixed/1.mp3
      $q -i $O/b.wav -ar 48000 $S/mixed/2.flac; echo broken > $S/mixed/3.ogg; cp $S/mixed/3.ogg $S/none
      cp $O/a.wav $S/plain/1.wav; $q -i $O/b.wav -c:a alac $S/plain/2.m4a
      for n in alike.merged.mp3 alike.merged.m4a mixed.merged.mp3 mixed.64k.mono.merged.opus none.merged.mp3; do show $n; done
      sox $O/a.wav $O/b.wav -t raw - | cmp - <(sox plain.merged.flac -t raw -) && ls plain.merged.flac.tracks
      # The seam of what is copied is no longer than what encoders add, and all frames are there.
      hash() { $q -i $1 -map 0:a -c copy -f framemd5 - | grep -v '#' | cut -d, -f6; }
      (hash $S/alike/2.mp3; hash $S/alike/10.mp3) > $O/frames; hash alike.merged.mp3 | comm -13 <(sort $O/frames) <(sort -) | wc -l
      sox -D plain.crossfade=500ms.merged.flac -t raw $O/x.raw
      sox plain.crossfade=500ms.merged.flac -n stat 2>&1 | awk '/Length/ { print $3 } /Maximum amp/ { print ($3 < 1) }'
      cmp -n 260000 $O/x.raw <(sox $O/a.wav -t raw -) && echo start
      tail -c 100000 $O/x.raw | cmp - <(sox $O/b.wav -t raw - | tail -c 100000) && echo end
      ls -d alike.crossfade=60s.merged.mp3 alike.10s-20s.merged.mp3 alike.merged.mp4
      """)
    let broken = "is not a readable sound or film (Invalid data found when processing input)"
    #expect(
      said == """
        0.0-2.0 Erste,2.0-3.1 10, 276732
        alike is made of 2 files, copied as they are
        0.0-2.0 Erste,2.0-3.1 10, 274432
        alike is made of 2 files, coded again
        0.0-2.0 Erste,2.0-3.1 2, 273420
        mixed is made of 2 files, coded again, since 2.flac is not like the first; left out: 3.ogg \(broken)
        0.0-2.0 Erste,2.0-3.1 2, 297600
        mixed is made of 2 files, coded as the name says; left out: 3.ogg \(broken)
        cat: none.merged.mp3: Input/output error
        none: 3.ogg \(broken)
        01 1.flac
        02 2.flac
        0
        2.600000
        1
        start
        end
        ls: cannot access 'alike.crossfade=60s.merged.mp3': No such file or directory
        ls: cannot access 'alike.10s-20s.merged.mp3': No such file or directory
        ls: cannot access 'alike.merged.mp4': No such file or directory

        """)
  }

  @Test func mergedFilmsKeepAllFrames() async throws {
    let said = try await shell(
      """
      mkdir $S/alike $S/mixed
      film() { $q -f lavfi -i testsrc2=s=$2:r=$3:d=$4 -f lavfi -i sine=$5:d=$4 -c:v libx264 -preset veryfast -c:a aac $1; }
      film $S/alike/1.mp4 160x120 25 2 300; film $S/alike/2.mp4 160x120 25 1.48 500; film $S/alike/10.mp4 160x120 25 1 700
      cp $S/alike/1.mp4 $S/mixed; film $S/mixed/2.mkv 120x160 30 1.5 500; echo x > $S/mixed/4.mkv
      $q -f lavfi -i testsrc2=s=320x240:r=10:d=1 $S/mixed/3.avi; cp $S/alike/10.mp4 $S/mixed/5.mp4
      for n in alike.merged.mp4 alike.merged.mkv mixed.merged.mp4 alike.80px.crf40.mute.merged.mkv; do show $n
        ffprobe -v error -select_streams v -count_packets -of csv=p=0 \\
          -show_entries stream=codec_name,width,height,nb_read_packets,r_frame_rate $O/x.${n##*.}
      done
      hash() { $q -i $1 -map 0:v -f framemd5 - | grep -v '#' | cut -d, -f6; }
      (hash $S/alike/1.mp4; hash $S/alike/2.mp4; hash $S/alike/10.mp4) | cmp - <(hash alike.merged.mp4) && echo same
      cat alike.merged.mp4 > $O/x.mp4; grep -aobE 'moov|mdat' $O/x.mp4 | head -1 | cut -d: -f2
      # Each part has its own tone, at its place.
      cat mixed.merged.mp4 > $O/x.mp4
      for at in 1 3 5; do $q -ss $at -t 0.3 -i $O/x.mp4 -ac 1 $O/t.wav; sox $O/t.wav -n stat 2>&1 | awk '/Rough/ { print int(($3 + 50) / 100) }'; done
      """)
    let mixed = "coded again, since 2.mkv is not like the first; left out: 4.mkv is not a readable sound or film"
    #expect(
      said == """
        0.0-2.0 1,2.0-3.5 2,3.5-4.5 10, 401408
        alike is made of 3 files, copied as they are
        h264,160,120,25/1,112
        0.0-2.0 1,2.0-3.5 2,3.5-4.5 10, 403456
        alike is made of 3 files, copied as they are
        h264,160,120,25/1,112
        0.0-2.0 1,2.0-3.5 2,3.5-4.5 3,4.5-5.5 5, 493568
        mixed is made of 4 files, \(mixed) (Invalid data found when processing input)
        h264,160,120,25/1,138
        0.0-2.0 1,2.0-3.5 2,3.5-4.5 10, 0
        alike is made of 3 files, coded again
        h264,80,60,25/1,112
        same
        moov
        3
        5
        7

        """)
  }
}
