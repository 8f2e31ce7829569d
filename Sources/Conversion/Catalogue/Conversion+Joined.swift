/// Conversions that join all sounds, or all films, in a directory: `FOLDER[.MODIFIER…].merged.EXTENSION`. The files are
/// passed as a `Bundle`.
extension Conversion {
  public static let joined: [Conversion] =
    [Format.mp3, .m4a, .opus].map { joined($0, SoundJoinChanges.self) } + [joined(.flac, SoundJoinChanges.self)]
    + [Format.mp4, .mkv].map { joined($0, FilmJoinChanges.self) }

  private static func joined(_ result: Format, _ arguments: any Modifiers.Type) -> Conversion {
    let isFilm = result.family == .film
    let kind = isFilm ? "films" : "sounds"
    var conversion = Conversion(
      joinedVerb(result), named: "merged", from: isFilm ? Format.films : Format.sounds, to: result, as: .folder,
      arguments: arguments, size: .guess(result == .flac ? 12 : 2), programs: ["ffmedia"],
      meaning: (
        "any folder with \(kind)", "all of them in sequence, with a chapter for each; copied if they are alike"
      ))
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }

  public static func joinedVerb(_ result: Format) -> String { "joined-\(result.name)" }
}
