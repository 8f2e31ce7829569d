import Catalogue
import Testing

/// The words of names that change films.
@Suite struct FilmChangesTests {
  @Test(arguments: [
    ("mp4 mute.crf28.720p.10s-1m20s", "mp4 10s-1m20s.720p.crf28.mute"), ("mp4 silent", "mp4 mute"),
    ("webm 29,97fps.0,5x.av1", "webm 0,5x.29,97fps.av1"), ("mp4 2M", "mp4 2000k"), ("mp4 1500k", "mp4 1500k"),
    ("mp4 1,5s-2s", "mp4 1s500ms-2s"), ("mkv 90s-", "mkv 1m30s-"),
    ("mov mirror.flip.rot270.crop=64x48+0+16", "mov crop=64x48+0+16.rot270.flip.mirror"),
    ("mp4 track2.640px", "mp4 640px.track2"),
    ("still-jpeg 90s", "still-jpeg 1m30s"), ("still-png q70.contact", "still-png contact.q70"),
    ("loop-gif 12fps.64x64", "loop-gif 64x64.12fps"), ("segment 3", "segment 3"), ("track-m4a 2", "track-m4a 2"),
  ])
  func filmModifiersAreNormalizedToOneOrder(_ text: String, _ printed: String) {
    #expect(Recipe(text)?.description == printed)
    #expect(Recipe(printed)?.description == printed)
  }

  @Test(arguments: [
    "mp4 10s", "mp4 1m-10s", "mp4 720p.480p", "mp4 0fps", "mp4 25,fps", "mp4 25,0fps", "mp4 crf64", "mp4 crf07",
    "mp4 crop=64x48+1", "mp4 crop=64x48+-1+0", "mp4 rot45", "mp4 flip.flip", "mp4 mute.track1", "mp4 track0", "mp4 1x",
    "mp4 5x", "mp4 0,2x", "mp4 8p", "still-jpeg 1s.contact", "still-jpeg gray", "still-jpeg 1s.2s", "loop-gif crf20",
    "loop-gif mute", "loop-webp track1", "mp4 h264.vp9", "track-m4a 0", "hls ", "mergedfilm 720p",
  ])
  func invalidFilmModifiersAreRefused(_ text: String) {
    #expect(Recipe(text) == nil)
  }

  @Test func trackListRoundTrips() {
    let tracks = [
      FilmTrack(number: 1, format: .mp4, name: "01 video h264.mp4"),
      FilmTrack(number: 12, format: .attachment, name: "Ü font.ttf"),
    ]
    #expect(FilmTrack.tracks(FilmTrack.text(tracks)) == tracks)
    for text in ["1\tmp4\n", "x\tmp4\ta\n", "1\tpdf\ta\n", "0\tmp4\ta\n", "1\tmp4\t\n"] {
      #expect(FilmTrack.tracks(text) == nil)
    }
  }

  @Test(arguments: [
    ("00 00 00 18 66 74 79 70 71 74 20 20", "mov"), ("1a 45 df a3", "mkv"),
    ("00 00 00 18 66 74 79 70 33 67 70 34", "3gp"),
    ("46 4c 56 01", "flv"), ("2e 52 4d 46", "rm"), ("00 00 00 20 66 74 79 70 69 73 6f 6d", "mp4"),
    ("00 00 01 ba", "vob"),
    ("30 26 b2 75 8e 66 cf 11", "wmv"),
  ])
  func filmFormatsAreRecognizedByFirstBytes(_ head: String, _ name: String) {
    let bytes = head.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    #expect(Catalogue.standard.format(startingWith: (bytes + [UInt8](repeating: 0, count: 600))[...])?.name == name)
  }
}
