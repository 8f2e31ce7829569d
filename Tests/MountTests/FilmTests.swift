import TestSupport
import Testing

/// Films in other containers, parts and pictures of them, and the folders that they have: by ffprobe and ffmpeg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FilmTests {
  /// What `check_films.py` finds in a mount of films.
  private func found(_ parts: String...) async throws -> [String] {
    try await withScratch { scratch in
      _ = try await script("make_films.py", scratch.source, limit: 120)
      return try await withMount(scratch) { mount in
        var found: [String] = []
        for part in parts {
          found.append(try await script("check_films.py", scratch.source, mount.mountpoint, part, limit: 200).text)
        }
        return found
      }
    }
  }

  @Test func filmsAreCopiedCodedChangedAndTakenApart() async throws {
    let found = try await found("copies", "coded", "changed", "stills", "folders", "growing")
    for text in found { print(text) }
  }
}
