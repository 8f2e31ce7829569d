import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe", "sox"].allSatisfy { MountScratch.has($0) }

/// The tracks of records by cue sheets, through a mount: the decoded samples of all tracks are those of the whole.
@Suite(.timeLimit(.minutes(5)), .enabled(if: hasPrograms, "needs ffmpeg and sox"))
struct RecordTests {
  private static let files = """
    q='ffmpeg -v error -nostdin -y'; cd $S && mkdir cd two bad
    sox -R -n -r 44100 -c 2 -b 16 cd/a.wav synth 5.003 pluck C3 pluck E3
    $q -i cd/a.wav -metadata album=Wrong -metadata genre=Folk cd/Album.flac
    $q -i cd/a.wav -b:a 128k cd/c.mp3; $q -i cd/a.wav -q:a 2 cd/v.mp3; $q -i cd/a.wav cd/d.wv; $q -i cd/a.wav cd/e.aiff
    sheet() {
      printf '%s\\r\\n' 'REM DATE 1999' 'REM DISCID 8F0B2C0A' 'PERFORMER "Künstler"' 'TITLE "Alles"' "FILE \\"$1\\" WAVE" \\
        'TRACK 01 AUDIO' 'TITLE "Eins / 1"' 'ISRC DEABC9900001' 'INDEX 01 00:00:05' 'TRACK 02 AUDIO' 'TITLE "Zwei"' \\
        'PERFORMER "Gast"' 'INDEX 00 00:01:00' 'INDEX 01 00:02:11' 'TRACK 03 AUDIO' 'INDEX 01 00:03:70'
    }
    for n in a.wav ALBUM.wav c.mp3 v.mp3 d.wv e.aiff; do sheet $n > cd/${n%.*}.cue; done
    sheet x.wav | iconv -t UTF-16 > cd/album.CUE; sheet x | $q -i cd/a.wav -metadata "cuesheet=$(sheet x)" two/in.flac
    $q -i cd/a.wav -t 2 two/1.mp3; $q -i cd/a.wav -t 1 two/2.mp3
    printf '%s\\n' 'FILE "1.mp3" MP3' 'TRACK 01 AUDIO' 'INDEX 01 00:00:00' 'FILE 2.mp3 MP3' 'TRACK 02 AUDIO' \\
      'INDEX 00 00:00:00' 'INDEX 01 00:00:60' 'FILE 3.mp3 MP3' 'TRACK 03 AUDIO' 'INDEX 01 00:00:00' > two/two.cue
    printf ';FFMETADATA1\\n[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=0\\nEND=2000\\ntitle=Kapitel\\n' > $O/t
    printf '[CHAPTER]\\nTIMEBASE=1/1000\\nSTART=2000\\nEND=5003\\n' >> $O/t
    $q -i cd/a.wav -i $O/t -map_metadata 1 two/book.m4b
    for n in ../cd/a.wav /etc/passwd . a/../../cd/a.wav none.wav; do sheet "$n" > bad/$((++i)).cue; done
    ln -s ../cd/a.wav bad/none.wav; head -c 3000 /dev/urandom > bad/6.cue; : > bad/7.cue; cp cd/a.cue bad/text; cp cd/a.wav bad

    """

  @Test func tracksAreSampleExactAndSheetsStayInDirectory() async throws {
    try await withScratch { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        let made = try await mount.shell(Self.files, scratch, limit: 60)
        #expect(made == "")
        try await tracksAreCutAndTagged(mount, scratch)
        try await sheetsNeverLeaveTheirFolder(mount, scratch)
      }
    }
  }

  private func tracksAreCutAndTagged(_ mount: MountProcess, _ scratch: MountScratch) async throws {
    let said = try await mount.shell(
      """
      ls cd | grep -c 'tracks$'
      q='ffmpeg -v error -nostdin -y'
      pcm() {
        case $1 in *.mp3 | *.m4b) for f; do $q -i "$f" -f s16le - || echo "$f: no"; done ;; *) sox -D "$@" -t raw - ;; esac
      }
      while read n c; do
        pcm cd/$n | md5sum > $O/whole; pcm cd/$c.tracks/* | md5sum | cmp - $O/whole || echo "$n is not the whole"
        ls cd/$c.tracks | paste -sd,
      done <<< 'a.wav a.cue
      Album.flac ALBUM.cue
      Album.flac album.CUE
      c.mp3 c.cue
      v.mp3 v.cue
      d.wv d.cue
      e.aiff e.cue'
      pcm two/in.flac.tracks/* | md5sum > $O/all; pcm cd/a.wav | md5sum | cmp - $O/all
      ls two/in.flac.tracks two/two.cue.tracks two/book.m4b.tracks | paste -sd,
      for n in two/two.cue.tracks/0?.mp3 two/book.m4b.tracks/*; do pcm "$n" | wc -c; done | paste -sd,
      getfattr --only-values -n user.ffmount.remark two/two.cue.tracks; echo
      for n in 'cd/ALBUM.cue.tracks/02 Zwei.flac' 'cd/c.cue.tracks/01 Eins - 1.mp3' 'cd/a.cue.tracks/02 Zwei.wav'; do
        # FFmpeg 5 does not read this tag of a WAV.
        unread=-; [ "${n##*.}" != wav ] || unread=album_artist
        ffprobe -v error -show_entries format_tags -of compact=p=0 "$n" | tr '|' '\\n' | grep -v ":$unread=" | sort | paste -sd' '
      done
      n='cd/ALBUM.cue.tracks/02 Zwei.flac.as-mp3'; [ $(stat -c %s "$n") = $(cat "$n" | wc -c) ] && $q -i "$n" -f s16le - | wc -c
      s=$(stat -c %s 'cd/a.cue.tracks/02 Zwei.wav'); tail -c 9 'cd/a.cue.tracks/02 Zwei.wav' > $O/end
      cat 'cd/a.cue.tracks/02 Zwei.wav' > $O/w; [ $s = $(stat -c %s $O/w) ] && tail -c 9 $O/w | cmp - $O/end && echo exact
      soxi -s cd/Album.flac.1s1f-1s2f.as-wav
      """, scratch)
    #expect(
      said == """
        7
        00 Pregap.wav,01 Eins - 1.wav,02 Zwei.wav,03.wav
        00 Pregap.flac,01 Eins - 1.flac,02 Zwei.flac,03.flac
        00 Pregap.flac,01 Eins - 1.flac,02 Zwei.flac,03.flac
        00 Pregap.mp3,01 Eins - 1.mp3,02 Zwei.mp3,03.mp3
        00 Pregap.mp3,01 Eins - 1.mp3,02 Zwei.mp3,03.mp3
        00 Pregap.flac,01 Eins - 1.flac,02 Zwei.flac,03.flac
        00 Pregap.aiff,01 Eins - 1.aiff,02 Zwei.aiff,03.aiff
        two/book.m4b.tracks:,01 Kapitel.flac,02.flac,,two/in.flac.tracks:,00 Pregap.flac,01 Eins - 1.flac,\
        02 Zwei.flac,03.flac,,two/two.cue.tracks:,01.mp3,02.mp3
        352800,176400,352800,529728
        two/two.cue names 3.mp3, and no such sound is beside it
        tag:DISCID=8F0B2C0A tag:album=Alles tag:album_artist=Künstler tag:artist=Gast tag:date=1999 tag:genre=Folk \
        tag:title=Zwei tag:track=2/3
        tag:DISCID=8F0B2C0A tag:ISRC=DEABC9900001 tag:album=Alles tag:album_artist=Künstler tag:artist=Künstler \
        tag:date=1999 tag:title=Eins / 1 tag:track=1/3
        tag:album=Alles tag:artist=Gast tag:date=1999 tag:title=Zwei tag:track=2/3
        315168
        exact
        588

        """)
  }

  /// What names something elsewhere, or nothing, says so; the mount goes on.
  private func sheetsNeverLeaveTheirFolder(_ mount: MountProcess, _ scratch: MountScratch) async throws {
    let said = try await mount.shell(
      """
      for n in bad/?.cue; do
        ls $n.tracks > $O/out 2>&1 && cat $O/out; ls "$n.tracks/01 Eins - 1.wav" 2>&1 | grep -v 'No such\\|Input/out'
        getfattr --only-values -n user.ffmount.error $n.tracks; echo
      done
      ls bad/text.tracks | wc -l; ls bad/a.wav.tracks; getfattr --only-values -n user.ffmount.error bad/a.wav.tracks
      """, scratch)
    let names = ["../cd/a.wav", "/etc/passwd", ".", "a/../../cd/a.wav", "none.wav"]
    let refused = names.enumerated().map { "bad/\($0 + 1).cue: names \($1), and no such sound is beside it\n" }.joined()
    #expect(
      said == refused + """
        bad/6.cue: is a cue sheet without tracks of sound
        bad/7.cue: is a cue sheet without tracks of sound
        4
        ls: cannot open directory 'bad/a.wav.tracks': Input/output error
        bad/a.wav: has neither a cue sheet in it that divides it nor chapters
        """)
  }
}
