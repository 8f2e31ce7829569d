import Testing

@testable import Cue

/// Cue sheets as programs and people write them.
@Suite struct CueSheetTests {
  private static let plain = """
    REM GENRE "Neue Musik"
    REM DATE 1999
    REM DISCID 8F0B2C0A
    REM COMMENT "ExactAudioCopy v1.6"
    PERFORMER "Sängerin 歌"
    TITLE "Größe / Weite"
    FILE "CD Image.wav" WAVE
      TRACK 01 AUDIO
        TITLE "Der "Anfang""
        PERFORMER "Gast"
        ISRC DEABC9900001
        INDEX 00 00:00:00
        INDEX 01 00:00:33
      TRACK 02 AUDIO
        TITLE "Zwei"
        INDEX 00 00:02:10
        INDEX 01 00:03:00
        INDEX 02 00:03:20
      TRACK 03 AUDIO
        INDEX 01 61:00:74
    """

  /// `number file start-end title`, a line each.
  private static func shown(_ sheet: CueSheet?) -> String {
    (sheet?.tracks ?? []).map { track in
      "\(track.number) \(sheet?.files[track.file] ?? "") \(track.start)-\(track.end.map { "\($0)" } ?? "")"
        + (track.title.map { " \($0)" } ?? "")
    }.joined(separator: "\n")
  }

  private static let plainTracks = """
    0 CD Image.wav 0-33 Pregap
    1 CD Image.wav 33-225 Der "Anfang"
    2 CD Image.wav 225-274574 Zwei
    3 CD Image.wav 274574-
    """

  private static func wide(_ text: String, isBigEndian: Bool) -> [UInt8] {
    text.utf16.flatMap { unit in
      let bytes = [UInt8(unit & 255), UInt8(unit >> 8)]
      return isBigEndian ? bytes.reversed() : bytes
    }
  }

  @Test func everyEncodingAndLineEndIsRead() {
    let western = Self.plain.replacing("歌", with: "").unicodeScalars.map { UInt8($0.value) }
    let texts: [[UInt8]] = [
      Array(Self.plain.utf8), [0xef, 0xbb, 0xbf] + Array(Self.plain.utf8), western,
      Array(Self.plain.replacing("\n", with: "\r\n").utf8), Array(Self.plain.replacing("\n", with: "\r").utf8),
      [0xff, 0xfe] + Self.wide(Self.plain, isBigEndian: false),
      [0xfe, 0xff] + Self.wide(Self.plain, isBigEndian: true),
      Self.wide(Self.plain, isBigEndian: false), Self.wide(Self.plain, isBigEndian: true),
    ]
    for (number, text) in texts.enumerated() {
      let sheet = CueSheet(text)
      #expect(Self.shown(sheet) == Self.plainTracks, "text \(number)")
      let tags = sheet?.tracks.last?.tags.map { "\($0.name)=\($0.value)" } ?? []
      #expect(tags.contains("album=Größe / Weite"), "text \(number): \(tags)")
    }
  }

  @Test func trackTagsIncludeAlbumTags() throws {
    let sheet = try #require(CueSheet(Array(Self.plain.utf8)))
    #expect(
      sheet.tracks[1].tags.map { "\($0.name)=\($0.value)" } == [
        "DISCID=8F0B2C0A", "ISRC=DEABC9900001", "album=Größe / Weite", "album_artist=Sängerin 歌", "artist=Gast",
        "date=1999", "genre=Neue Musik", "title=Der \"Anfang\"", "track=1/3",
      ])
    #expect(sheet.tracks[2].tags.contains(CueSheet.Tag(name: "artist", value: "Sängerin 歌")))
  }

  /// Several files, as rips with the gaps before or behind the tracks have them; and data on the disc.
  @Test func eachFileOfCueSheetIsSplitSeparately() {
    let text = """
      FILE a.wav WAVE
      TRACK 01 AUDIO
      INDEX 01 00:00:00
      TRACK 02 AUDIO
      INDEX 00 00:10:00
      FILE "b c.wav" WAVE
      INDEX 01 00:00:00
      TRACK 03 AUDIO
      INDEX 00 00:08:00
      FILE c.mp3 MP3
      TRACK 03 AUDIO
      INDEX 00 00:00:00
      INDEX 01 00:02:00
      FILE d.bin BINARY
      TRACK 04 MODE1/2352
      INDEX 01 00:00:00
      TRACK 05 AUDIO
      INDEX 01 01:00:00
      """
    #expect(
      Self.shown(CueSheet(Array(text.utf8))) == """
        1 a.wav 0-
        2 b c.wav 0-
        3 c.mp3 0-
        5 d.bin 4500-
        """)
  }

  @Test func invalidCueSheetLinesAreIgnored() {
    let damaged = """
      INDEX 01 00:00:00
      TRACK 01 AUDIO
      INDEX 01 00:00:00
      FILE
      FILE "x.wav
      TRACK
      TRACK abc AUDIO
      TRACK 99999999999999999999 AUDIO
      TRACK 01 AUDIO
      INDEX 01 00:60:00
      INDEX 01 00:00:75
      INDEX 01 -1:00:00
      INDEX 01 99999999999999999999:00:00
      INDEX 01 00:01:00
      INDEX 01 00:09:00
      TRACK 01 AUDIO
      TITLE
      INDEX 01 00:01:00
      TRACK 01 AUDIO
      TITLE "Same"
      INDEX 01 00:00:50
      """
    #expect(
      Self.shown(CueSheet(Array(damaged.utf8))) == """
        0 x.wav 0-50 Pregap
        1 x.wav 75-
        1 x.wav 50-75 Same
        """)
    for text in ["", "\u{feff}", "FILE x.wav WAVE", "TRACK 01 AUDIO\nINDEX 01 00:00:00", "\0\0\0\0"] {
      #expect(CueSheet(Array(text.utf8)) == nil)
    }
    #expect(CueSheet([UInt8](repeating: 0x20, count: CueSheet.longest + 1)) == nil)
    #expect(CueSheet.isHead(Array(Self.plain.utf8.prefix(300))[...]) && !CueSheet.isHead(Array("FILE a".utf8)[...]))
  }
}
