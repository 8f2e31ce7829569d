internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// Makes sound files of sound and of films.
public struct SoundHandler: JobHandler {
  public static let verbs = Conversion.sounds.map(\.verb)

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    guard let changes = recipe.arguments.flatMap({ SoundChanges($0[...]) }) else { throw .unknown }
    let input = try MediaInput(order.input())
    let stream = try SoundChoice.stream(of: input, track: changes.track)
    guard let target = SoundTarget.named(recipe.verb) else { throw .unknown }
    return try CodedSound(input, stream, as: target, changes).write(to: output)
  }
}
