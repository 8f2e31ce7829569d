internal import Cue

extension FuzzTarget {
  /// Cue sheets: tracks are parts of their files, and no two overlap.
  public static let cue = FuzzTarget(name: "cue") {
    let sheet = """
      REM DATE 1999
      PERFORMER "A"
      TITLE "B"
      FILE "a b.wav" WAVE
        TRACK 01 AUDIO
          TITLE "C "D""
          INDEX 00 00:00:00
          INDEX 01 00:00:33
        TRACK 02 AUDIO
          INDEX 01 00:03:00
      FILE c.mp3 MP3
        TRACK 03 AUDIO
          INDEX 01 61:00:74
      """
    let units = Array(sheet.utf16)
    return [
      Array(sheet.utf8), Array(sheet.replacing("\n", with: "\r\n").utf8), [0xef, 0xbb, 0xbf] + Array(sheet.utf8),
      [0xff, 0xfe] + units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
      units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }, Array(sheet.utf8) + [0xe9, 0x0a],
    ]
  } complaints: { bytes in
    _ = CueSheet.isHead(bytes.prefix(4096))
    guard let sheet = CueSheet(bytes) else { return [] }
    var complaints: [String] = []
    for (index, track) in sheet.tracks.enumerated() {
      if !sheet.files.indices.contains(track.file) { complaints.append("track \(track.number) is of no file") }
      if let end = track.end, end <= track.start { complaints.append("track \(track.number) ends before it starts") }
      for other in sheet.tracks[..<index] where other.file == track.file {
        if (other.end ?? .max) > track.start, (track.end ?? .max) > other.start {
          complaints.append("tracks \(other.number) and \(track.number) overlap")
        }
      }
    }
    return complaints
  }
}
