internal import Bytes
internal import Catalogue
internal import Jobs
internal import Text
internal import Tree

/// What a folder that is made of a film holds.
struct FilmFiles: Sendable {
  /// How many files a listing shows.
  let count: Int
  let name: @Sendable (Int) -> FileName
  /// How a file of a name is made, listed or not; nil if there is none.
  let recipe: @Sendable (FileName) -> Recipe?
}

/// Which folder.
enum FilmFolderKind: Sendable {
  case tracks
  case frames(FrameChanges)
  case segments

  /// For `user.ffmount.view`.
  var view: String {
    switch self {
    case .tracks: "streams"
    case .frames: "frames"
    case .segments: "hls"
    }
  }

  /// Different for folders with other files.
  var mark: UInt64 {
    var hash = StableHash()
    hash.combine(view.utf8)
    if case .frames(let changes) = self { hash.combine(changes.description.utf8) }
    return hash.value
  }

  /// What tells what is in the folder.
  var question: Job.Work {
    switch self {
    case .tracks: .make(Conversion.tracks.plainRecipe)
    case .frames: .count(verb: Conversion.frames.verb)
    case .segments: .count(verb: Conversion.segment.verb)
    }
  }

  /// Asks the worker.
  func files(
    of file: SourceState, _ conversions: Conversions, _ patience: Patience
  ) throws(Fault) -> FilmFiles {
    try conversions.known.load(patience)
    switch self {
    case .tracks:
      let list = try conversions.renditions.open(Conversion.tracks.plainRecipe, of: file.subject, patience)
      let bytes = try list.bytes(at: 0, count: Int(min(list.size, Self.longestList)), patience)
      guard let tracks = FilmTrack.tracks(String(decoding: bytes, as: UTF8.self)) else {
        throw Fault(.damaged, "its tracks have names that cannot be shown")
      }
      return Self.files(tracks)
    case .frames(let changes):
      let seconds = try conversions.renditions.count(Conversion.frames.verb, of: file.subject, patience)
      return Self.frames(Int(seconds), changes)
    case .segments:
      return Self.segments(Int(try conversions.renditions.count(Conversion.segment.verb, of: file.subject, patience)))
    }
  }

  private static let longestList: Int64 = 4 << 20

  private static func files(_ tracks: [FilmTrack]) -> FilmFiles {
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
    return FilmFiles(count: listed.count) {
      listed[$0]
    } recipe: {
      made[$0]
    }
  }

  private static func frames(_ seconds: Int, _ changes: FrameChanges) -> FilmFiles {
    let step = Int(changes.interval.milliseconds / 1000)
    return FilmFiles(count: (seconds + step - 1) / step) {
      FrameName.name(second: $0 * step)
    } recipe: { name in
      guard let second = FrameName.second(name), second < seconds else { return nil }
      return changes.recipe(at: MediaTime(milliseconds: Int64(second) * 1000))
    }
  }

  private static func segments(_ count: Int) -> FilmFiles {
    let playlist = FileName(FilmSegment.playlist.utf8)
    return FilmFiles(count: count + 1) { index in
      index == 0 ? playlist : FileName(FilmSegment.name(index).utf8)
    } recipe: { name in
      if name == playlist { return Conversion.playlist.plainRecipe }
      guard let number = FilmSegment.number(name.text), number <= count else { return nil }
      return .segment(number)
    }
  }
}

/// `00-01-30.jpg`: hours, minutes and seconds.
enum FrameName {
  private static let suffix: StaticString = ".jpg"

  static func name(second: Int) -> FileName {
    let parts = [second / 3600, second / 60 % 60, second % 60].map { part in
      part < 10 ? "0\(part)" : "\(part)"
    }
    return FileName(parts.joined(separator: "-").utf8).appending(suffix)
  }

  /// nil for what is not called so.
  static func second(_ name: FileName) -> Int? {
    guard let stem = name.dropping(suffix: suffix) else { return nil }
    let parts = stem.text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, parts.allSatisfy({ (0...9999).contains($0) }) else { return nil }
    let second = parts[0] * 3600 + parts[1] * 60 + parts[2]
    return Self.name(second: second) == name ? second : nil
  }
}
