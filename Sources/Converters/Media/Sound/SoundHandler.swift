internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// A handler that makes audio files of audio and video files.
public struct SoundHandler: JobHandler {
  public static let verbs = Conversion.sounds.map(\.verb)
  private var open = OpenDocuments<OpenSound>()
  public var openDocuments: Int { open.count }

  public init() {}

  public mutating func closeOne() -> Bool { open.closeOne() }

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    guard let changes = recipe.arguments.flatMap({ SoundChanges($0[...]) }) else { throw .unknown }
    if let kind = SampleFile.Kind(rawValue: recipe.verb) {
      return try SampleFileJob(kind, of: sound(order, changes), changes).write(order.part, to: output)
    }
    guard let target = SoundTarget.named(recipe.verb), order.part == nil else { throw .unknown }
    let coded = try CodedSound(sound(order, changes), as: target, changes)
    if let coding = SpeechCoding(rawValue: recipe.verb), !coded.isCopy {
      return try SpeechFile(coding, of: sound(order, changes), changes).write(to: output)
    }
    return try coded.write(to: output)
  }

  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .measure(let recipe) = order.job.work, let changes = recipe.arguments.flatMap({ SoundChanges($0[...]) })
    else { throw .unknown }
    if let kind = SampleFile.Kind(rawValue: recipe.verb) {
      return try SampleFileJob(kind, of: sound(order, changes), changes).measured()
    }
    guard let target = SoundTarget.named(recipe.verb) else { throw .unknown }
    if let coding = SpeechCoding(rawValue: recipe.verb) {
      let sound = try sound(order, changes)
      if try CodedSound(sound, as: target, changes).isCopy { return .done(JobAnswer.unmeasured) }
      return .done(try SpeechFile(coding, of: sound, changes).size ?? JobAnswer.unmeasured)
    }
    return try .done(CodedSound(sound(order, changes), as: target, changes).size() ?? JobAnswer.unmeasured)
  }

  /// Returns the source, which is kept open since its parts are requested one after the other.
  private mutating func sound(_ order: JobOrder, _ changes: SoundChanges) throws(JobFailure) -> OpenSound {
    let track = changes.track
    let known = try open.document(order.job.document) { () throws(JobFailure) in
      try OpenSound(order.input(), track: track)
    }
    if known.track == track { return known }
    return try OpenSound(order.input(), track: track)
  }
}
