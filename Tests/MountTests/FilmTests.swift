import TestSupport
import Testing

/// Films in other containers, parts and pictures of them, and the folders that they have: by ffprobe and ffmpeg.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FilmTests {
  /// What `check_films.py` finds in one mount of the films of `make_films.py`, part by part.
  private static let expected: [(part: String, text: String)] = [
    (
      "copies",
      """
      mp4 h264 aac mov_text: yes
      mkv h264 aac subrip: yes
      ts h264 aac: yes
      flv h264 aac: yes
      The Film ['One', 'Two']
      ['eng', 'deu']
      index first: yes
      film.mkv is made with changes: an attached file (notes.txt) is left out
      World
      still to be turned: yes
      """
    ),
    (
      "coded",
      """
      webm vp9 opus webvtt: yes
      as loud: yes
      avi mpeg4 mp3: yes
      as loud: yes
      mpeg mpeg2video mp2: yes
      as loud: yes
      amv amv adpcm_ima_amv: yes
      as loud: yes
      old.avi h264 mp3 160x120 2.0
      disc.vob h264 aac 160x120 2.0
      cast.ts h264 aac 160x120 2.0
      cast.ts is made with changes: sound is coded again, from ac3
      upright 120x160: yes
      """
    ),
    (
      "changed",
      """
      500ms-1s500ms 160x120 25 1.0 alike
      2x 160x120 50 1.0 -
      crop=64x48+16+32 64x48 50 2.0 alike
      rot90.flip.mirror 120x160 50 2.0 alike
      64x64.10fps.crf40 64x48 20 2.0 -
      720p 160x120 50 2.0 -
      h264 h264 aac
      []
      """
    ),
    (
      "stills",
      """
      film.mkv.as-jpeg JPEG image data 160x120
      film.mkv.1s.as-png PNG image data 160x120
      film.mkv.contact.as-jpeg JPEG image data 670x510
      film.mkv.80px.as-jpeg JPEG image data 80x60
      turned.mp4.as-jpeg JPEG image data 120x160
      song.mp3.as-jpeg JPEG image data 64x64
      film.mkv.as-gif GIF image data 160x120
      film.mkv.80px.as-webp RIFF (little-endian) data 80x60
      the picture at a second: yes
      30
      """
    ),
    (
      "folders",
      """
      cast.ts film.mkv film.mkv.as-mp4 film.mkv.streams song.mp3
      01 video h264.mp4 h264
      02 audio eng aac.m4a aac
      03 subtitle deu subrip.srt subrip
      notes.txt A note.
      True
      ['00-00-00.jpg', '00-00-05.jpg', '00-00-10.jpg']
      a frame: yes
      ['00001.ts', 'index.m3u8']
      pictures of all segments: yes
      their sound: yes
      ['00001.ts', '00002.ts', '00003.ts', 'index.m3u8']
      pictures of all segments: yes
      their sound: yes
      one segment alone: yes
      """
    ),
    (
      "subtitles",
      """
      02 subtitle ass.ass: yes
      03 subtitle webvtt.vtt: yes
      04 subtitle subrip.srt: yes
      05 subtitle hdmv_pgs_subtitle.mkv: yes
      """
    ),
    // ffprobe is a player, and has gone before the film is made.
    (
      "growing",
      """
      vp9 opus
      estimate
      played
      h264 aac estimate
      a picture inside of it: yes
      estimate
      all of it, early and late: yes
      to the end: True, 0 to 60.00, parts of 2 s
      """
    ),
    (
      "killed",
      """
      1000
      Input/output error; slow.avi: the converter was killed (SIGKILL)
      1000
      Input/output error; slow.avi: the converter was killed (SIGKILL)
      True
      """
    ),
  ]

  @Test func filmsAreCopiedTranscodedEditedAndSplit() async throws {
    try await withScratch { scratch in
      _ = try await script("make_films.py", scratch.source, limit: 120)
      try await withMount(scratch) { mount in
        for (part, text) in Self.expected {
          let found = try await script("check_films.py", scratch.source, mount.mountpoint, part, limit: 120).text
          #expect(found == text + "\n", "\(part)")
        }
      }
    }
  }
}
