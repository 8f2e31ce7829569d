/// What a sheet says of a record and its tracks, as FFmpeg names it.
enum CueTags {
  /// What is said of each, the record's name for it first; nil where it is said of the other alone.
  private static let known: [(word: String, record: String?, track: String?)] = [
    ("TITLE", "album", "title"), ("PERFORMER", "album_artist", "artist"), ("SONGWRITER", "composer", "composer"),
    ("ISRC", nil, "ISRC"), ("DATE", "date", "date"), ("GENRE", "genre", "genre"), ("DISCID", "DISCID", nil),
    ("DISCNUMBER", "disc", nil), ("TOTALDISCS", "TOTALDISCS", nil),
    ("COMPOSER", "composer", "composer"), ("REPLAYGAIN_ALBUM_GAIN", "REPLAYGAIN_ALBUM_GAIN", nil),
    ("REPLAYGAIN_ALBUM_PEAK", "REPLAYGAIN_ALBUM_PEAK", nil), ("REPLAYGAIN_TRACK_GAIN", nil, "REPLAYGAIN_TRACK_GAIN"),
    ("REPLAYGAIN_TRACK_PEAK", nil, "REPLAYGAIN_TRACK_PEAK"),
  ]

  static let all = Set(known.map(\.word))

  /// `count`: how many tracks there are; nil for what is none.
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
