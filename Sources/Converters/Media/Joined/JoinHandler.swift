public import Catalogue
public import WorkerKit

/// A handler that joins the audio or video files of a directory into one.
public struct JoinHandler: JobHandler {
  public static let verbs = Conversion.joined.map(\.verb)

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let members = try JoinedMember.all(of: order)
    let words = recipe.arguments ?? ""
    guard let result = Conversion.joined.first(where: { $0.verb == recipe.verb })?.result else { throw .unknown }
    if let target = SoundTarget.named(result.name), let changes = SoundJoinChanges(words[...]) {
      return try SoundJoin(members, as: target, changes).write(to: output)
    }
    guard let container = FilmContainer.all[result.name], let changes = FilmJoinChanges(words[...]) else {
      throw .unknown
    }
    return try FilmJoin(members, in: container, changes.film).write(to: output)
  }
}
