internal import Bytes

/// Conversions of films: `NAME[.MODIFIER…].as-FORMAT`, and the contents of film views.
extension Conversion {
  public static let films: [Conversion] =
    Format.films.filter { $0 != .dv }.map { film($0) } + [
      still(.jpeg), still(.png), loop(.gif), loop(.webp), subtitles(.srt), subtitles(.vtt), tracks, playlist, segment,
    ] + trackFiles

  /// A film in another container. Streams are copied if the container supports them, and otherwise encoded.
  private static func film(_ result: Format) -> Conversion {
    var conversion = Conversion(
      from: Format.films + [.gif], to: result, arguments: FilmChanges.self,
      listed: result == .mp4 ? Format.unplayedFilms : [],
      listable: result == .mp4 ? Format.films.filter { $0 != .mp4 } : [],
      size: .guess(8, atMost: fragmented.contains(result) ? mostInFragments : .max), programs: ["ffmedia"],
      meaning: ("any film, or a GIF", "the film in another container, coded again only where necessary"))
    conversion.making = .growing
    conversion.outputLimit = Job.largestOutput
    return conversion
  }

  /// The formats with an index of fragments while they are made. The part that is not made yet is one entry of the
  /// index, whose size field limits it to `mostInFragments` bytes.
  private static let fragmented: [Format] = [.mp4, .m4v, .mov, .f4v]
  private static let mostInFragments: Int64 = 0x7fff_ffff

  /// A picture of a film, or the cover of a sound file.
  private static func still(_ result: Format) -> Conversion {
    Conversion(
      "still-\(result.name)", from: Format.films + Format.coveredSounds, to: result, arguments: StillChanges.self,
      size: .guess(8),
      programs: ["ffmedia"],
      meaning: ("any film or sound", "a typical picture of the film, or the cover of the record"))
  }

  private static func loop(_ result: Format) -> Conversion {
    var conversion = Conversion(
      "loop-\(result.name)", from: Format.films, to: result, arguments: LoopChanges.self, size: .guess(100),
      programs: ["ffmedia"], meaning: ("any film", "its pictures as an animated image"))
    conversion.slowness = 30
    return conversion
  }

  private static func subtitles(_ result: Format) -> Conversion {
    Conversion(
      from: Format.films, to: result, arguments: SubtitleChanges.self, size: .guess(1), programs: ["ffmedia"],
      meaning: ("any film", "its subtitles"))
  }

  // MARK: What views show

  /// The list of a film's tracks, each with its file. See `FilmTrack`.
  public static let tracks = Conversion(
    "tracks", from: Format.films, to: .plainText, as: .inView, size: .guess(1), programs: ["ffmedia"],
    meaning: ("any film", "its tracks"))

  /// An unchanged track in its own container.
  private static let trackFiles: [Conversion] = FilmTrack.formats.map { result in
    var conversion = Conversion(
      trackVerb(result), from: Format.films, to: result, as: .inView, arguments: PageSelection.self, size: .guess(2),
      programs: ["ffmedia"], meaning: ("any film", "one of its tracks"))
    conversion.outputLimit = Job.largestOutput
    return conversion
  }

  public static func trackVerb(_ result: Format) -> String { "track-\(result.name)" }

  /// The pictures of a film by time, each made by a `still` conversion. `Job.Work.count` returns the number of seconds.
  public static let frames = Conversion(
    "still-jpeg", from: Format.films, to: .jpeg, as: .inView, arguments: FrameChanges.self, size: .guess(8),
    programs: ["ffmedia"], meaning: ("any film", "its pictures"))

  /// `index.m3u8`, the playlist of a film's segments. `Job.Work.count` returns the number of segments.
  public static let playlist = Conversion(
    "hls", from: Format.films, to: .m3u8, as: .inView, size: .guess(1), programs: ["ffmedia"],
    meaning: ("any film", "a list of its segments"))

  /// Some seconds of a film, made independently of other segments.
  public static let segment = Conversion(
    "segment", from: Format.films, to: .ts, as: .inView, arguments: PageSelection.self, size: .guess(4),
    programs: ["ffmedia"], meaning: ("any film", "one of its segments"))
}

extension Recipe {
  /// Returns the recipe for a segment in the playlist, counted from 1.
  public static func segment(_ number: Int) -> Recipe {
    Recipe(verb: Conversion.segment.verb, PageSelection(page: number))
  }

  /// Returns the recipe for a film's track as a file of this format. Returns `nil` if the format is not one of
  /// `FilmTrack.formats`.
  public static func track(_ number: Int, as format: Format) -> Recipe? {
    FilmTrack.formats.contains(format)
      ? Recipe(verb: Conversion.trackVerb(format), PageSelection(page: number)) : nil
  }
}

extension Format {
  public static let m3u8 = Format(
    "m3u8", extensions: ["m3u8"], mimeType: "application/vnd.apple.mpegurl", family: .text, head: Array("#EXTM3U".utf8))
}
