internal import Bytes
internal import Catalogue
internal import Jobs
internal import Text
internal import Tree

/// The contents of directories derived from a film: its tracks, its pictures, or segments for players.
enum FilmContents: DirectoryContents {
  case tracks
  case frames(FrameChanges)
  case segments

  var view: String {
    switch self {
    case .tracks: "streams"
    case .frames: "frames"
    case .segments: "hls"
    }
  }

  var key: DirectoryKey {
    var hash = StableHash()
    if case .frames(let changes) = self { hash.combine(changes.description.utf8) }
    return DirectoryKey(view, hash.value)
  }

  var job: Job.Work? {
    switch self {
    case .tracks: .make(Conversion.tracks.plainRecipe)
    case .frames: .count(verb: Conversion.frames.verb)
    case .segments: .count(verb: Conversion.segment.verb)
    }
  }

  func files(
    of file: SourceState, _ conversions: Conversions, _ blocking: BlockingMode
  ) throws(Fault) -> DerivedFiles {
    switch self {
    case .tracks:
      let list = try conversions.renditions.open(Conversion.tracks.plainRecipe, of: file.subject, blocking)
      let bytes = try list.bytes(at: 0, count: Int(min(list.size, Self.longestList)), blocking)
      guard let tracks = FilmTrack.tracks(String(decoding: bytes, as: UTF8.self)) else {
        throw Fault(.damaged, "its tracks have names that cannot be shown")
      }
      return Self.files(tracks)
    case .frames(let changes):
      let seconds = try conversions.renditions.count(Conversion.frames.verb, of: file.subject, blocking)
      return Self.frames(Int(seconds), changes)
    case .segments:
      return Self.segments(Int(try conversions.renditions.count(Conversion.segment.verb, of: file.subject, blocking)))
    }
  }

  private static let longestList: Int64 = 4 << 20

  private static func files(_ tracks: [FilmTrack]) -> DerivedFiles {
    var names: [FileName] = []
    var recipes: [FileName: Recipe] = [:]
    for track in tracks {
      guard let recipe = Recipe.track(track.number, as: track.format) else { continue }
      let safe = track.name.split(separator: "/", omittingEmptySubsequences: true).joined(separator: "?")
      let plain = SafeName.safe(Array(safe.utf8)[...])
      var name = FileName(plain)
      var number = 1
      while recipes[name] != nil {
        name = FileName(SafeName.numbered(plain, number))
        number += 1
      }
      names.append(name)
      recipes[name] = recipe
    }
    let listed = names
    let made = recipes
    return DerivedFiles(count: listed.count) {
      listed[$0]
    } recipe: {
      made[$0]
    }
  }

  private static func frames(_ seconds: Int, _ changes: FrameChanges) -> DerivedFiles {
    let step = Int(changes.interval.milliseconds / 1000)
    return DerivedFiles(count: (seconds + step - 1) / step) {
      FrameName.name(second: $0 * step)
    } recipe: { name in
      guard let second = FrameName.second(name), second < seconds else { return nil }
      return changes.recipe(at: MediaTime(milliseconds: Int64(second) * 1000))
    }
  }

  private static func segments(_ count: Int) -> DerivedFiles {
    let playlist = FileName(FilmSegment.playlist.utf8)
    return DerivedFiles(count: count + 1) { index in
      index == 0 ? playlist : FileName(FilmSegment.name(index).utf8)
    } recipe: { name in
      if name == playlist { return Conversion.playlist.plainRecipe }
      guard let number = FilmSegment.number(name.text), number <= count else { return nil }
      return .segment(number)
    }
  }
}

/// File names of the form `00-01-30.jpg`: hours, minutes and seconds.
enum FrameName {
  private static let suffix: StaticString = ".jpg"

  static func name(second: Int) -> FileName {
    let parts = [second / 3600, second / 60 % 60, second % 60].map { part in
      part < 10 ? "0\(part)" : "\(part)"
    }
    return FileName(parts.joined(separator: "-").utf8).appending(suffix)
  }

  /// Returns the time of a name, in seconds. Returns `nil` for names of another form.
  static func second(_ name: FileName) -> Int? {
    guard let stem = name.dropping(suffix: suffix) else { return nil }
    let parts = stem.text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, parts.allSatisfy({ (0...9999).contains($0) }) else { return nil }
    let second = parts[0] * 3600 + parts[1] * 60 + parts[2]
    return Self.name(second: second) == name ? second : nil
  }
}
