internal import Bytes

/// A film's track as a separate file. The worker lists one per line.
public struct FilmTrack: Hashable, Sendable {
  /// The number of the track among all tracks, from 1.
  public let number: Int
  /// The format of the file.
  public let format: Format
  /// The name of the file.
  public let name: String

  public init(number: Int, format: Format, name: String) {
    self.number = number
    self.format = format
    self.name = name
  }

  /// The formats of track files, the best first. Attachments have the format `attachment` regardless of their content.
  public static let formats: [Format] = [
    .mp4, .mkv, .m4a, .mp3, .flac, .opus, .ogg, .ac3, .eac3, .dts, .mp2, .wav, .mka, .srt, .ass, .vtt, .jpeg, .png,
    .attachment,
  ]

  /// The maximum number of tracks in a list.
  public static let most = 10_000

  private static let separator: Character = "\t"

  public static func text(_ tracks: [FilmTrack]) -> String {
    tracks.map { "\($0.number)\(separator)\($0.format.name)\(separator)\($0.name)\n" }.joined()
  }

  /// Parses a list of tracks. Returns `nil` if it is invalid.
  public static func tracks(_ text: String) -> [FilmTrack]? {
    var tracks: [FilmTrack] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: separator, omittingEmptySubsequences: false)
      guard words.count == 3, let number = Int(words[0]), (1...most).contains(number), !words[2].isEmpty,
        let format = formats.first(where: { $0.name == words[1] }), tracks.count < most
      else { return nil }
      tracks.append(FilmTrack(number: number, format: format, name: String(words[2])))
    }
    return tracks
  }
}

extension Format {
  public static let srt = Format("srt", extensions: ["srt"], mimeType: "application/x-subrip", family: .text)
  public static let ass = Format("ass", extensions: ["ass", "ssa"], mimeType: "text/x-ssa", family: .text)
  public static let vtt = Format(
    "vtt", extensions: ["vtt"], mimeType: "text/vtt", family: .text, head: Array("WEBVTT".utf8))
  /// A file attached to a film.
  public static let attachment = Format(
    "attachment", extensions: [], mimeType: "application/octet-stream", family: .text)
}
