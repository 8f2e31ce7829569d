/// The tags of a record and its tracks under FFmpeg's names.
enum CueTags {
  /// The tag names of each command, for the record and for a track. Nil if the command does not apply there.
  private static let known: [(word: String, record: String?, track: String?)] = [
    ("TITLE", "album", "title"), ("PERFORMER", "album_artist", "artist"), ("SONGWRITER", "composer", "composer"),
    ("ISRC", nil, "ISRC"), ("DATE", "date", "date"), ("GENRE", "genre", "genre"), ("DISCID", "DISCID", nil),
    ("DISCNUMBER", "disc", nil), ("TOTALDISCS", "TOTALDISCS", nil),
    ("COMPOSER", "composer", "composer"), ("REPLAYGAIN_ALBUM_GAIN", "REPLAYGAIN_ALBUM_GAIN", nil),
    ("REPLAYGAIN_ALBUM_PEAK", "REPLAYGAIN_ALBUM_PEAK", nil), ("REPLAYGAIN_TRACK_GAIN", nil, "REPLAYGAIN_TRACK_GAIN"),
    ("REPLAYGAIN_TRACK_PEAK", nil, "REPLAYGAIN_TRACK_PEAK"),
  ]

  static let all = Set(known.map(\.word))

  /// Returns the tags of a track. `count` is the number of tracks, or nil for the part before the first track.
  static func tags(
    _ number: Int, of count: Int?, _ own: [String: String], record: [String: String]
  ) -> [CueSheet.Tag] {
    var tags: [String: String] = [:]
    for (word, overall, track) in known {
      if let overall, let value = record[word] { tags[overall] = value }
      if let track, let value = own[word] { tags[track] = value }
    }
    if tags["artist"] == nil { tags["artist"] = tags["album_artist"] }
    if let count { tags["track"] = "\(number)/\(max(number, count))" }
    return tags.map { CueSheet.Tag(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
  }
}
