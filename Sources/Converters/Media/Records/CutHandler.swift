public import Catalogue
public import WorkerKit

/// A handler that makes files of the tracks of an album that is one file.
public struct CutHandler: JobHandler {
  public static let verbs = Conversion.cutFormats.map { Conversion.cutVerb($0) }
  private var open = OpenDocuments<OpenSound>()
  public var openDocuments: Int { open.count }

  public init() {}

  public mutating func closeOne() -> Bool { open.closeOne() }

  /// The method for a verb: uncompressed samples, MP3, or an encoder.
  private enum Way {
    case samples(SampleFile.Kind)
    case mp3
    case coded(SoundTarget)

    init?(_ verb: String) {
      guard let format = Conversion.cutFormats.first(where: { Conversion.cutVerb($0) == verb }) else { return nil }
      if let kind = SampleFile.Kind(rawValue: format.name) {
        self = .samples(kind)
      } else if format == .mp3 {
        self = .mp3
      } else {
        guard let target = SoundTarget.named(format.name) else { return nil }
        self = .coded(target)
      }
    }
  }

  private static func parts(_ recipe: Recipe) throws(JobFailure) -> (Way, SoundCut) {
    guard let way = Way(recipe.verb), let cut = recipe.arguments.flatMap({ SoundCut($0[...]) }) else { throw .unknown }
    return (way, cut)
  }

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let (way, cut) = try Self.parts(recipe)
    let sound = try sound(order)
    let tags = cut.tags(of: sound)
    switch way {
    case .samples(let kind):
      return try SampleFileJob(kind, of: sound, cut.changes, tags: tags).write(order.part, to: output)
    case .mp3: return try MP3Cut(sound, cut.span, tags).write(to: output)
    case .coded(let target): return try CodedSound(sound, as: target, cut.changes, tags: tags).write(to: output)
    }
  }

  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .measure(let recipe) = order.job.work else { throw .unknown }
    let (way, cut) = try Self.parts(recipe)
    guard case .samples(let kind) = way else { return .done(JobAnswer.unmeasured) }
    let sound = try sound(order)
    return try SampleFileJob(kind, of: sound, cut.changes, tags: cut.tags(of: sound)).measured()
  }

  /// Returns the album, which is kept open for the next track.
  private mutating func sound(_ order: JobOrder) throws(JobFailure) -> OpenSound {
    try open.document(order.job.document) { () throws(JobFailure) in try OpenSound(order.input(), track: nil) }
  }
}

extension SoundCut {
  /// The changes to the audio.
  fileprivate var changes: SoundChanges {
    var changes = SoundChanges()
    if span.start > .zero || span.end != nil { changes.span = span }
    return changes
  }

  /// Returns the tags of the track, completed by those of the whole album.
  fileprivate func tags(of sound: OpenSound) -> MediaTags {
    var all = MediaTags()
    for tag in tags { all.set(tag.name, tag.value) }
    var record = sound.tags
    record.entries.removeAll { Self.ofWholes.contains($0.name.lowercased()) }
    return all.completed(by: record)
  }

  /// The tags that describe a file as a whole, and not each track in it.
  private static let ofWholes: Set = [
    "title", "track", "tracktotal", "totaltracks", "cuesheet", "log", "isrc", "replaygain_track_gain",
    "replaygain_track_peak", "tlen", "tsrc",
  ]
}
