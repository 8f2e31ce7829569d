internal import Catalogue
internal import Rotation
internal import WorkerKit

/// A worker program that another family brings.
@main
enum FFRotate {
  static func main() { WorkerRuntime.run("ffrotate") { [RotationHandler()] } }
}

/// Rotates letters, and marks text.
struct RotationHandler: JobHandler {
  static let verbs = Rotation.conversions.map(\.verb)

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let input = try order.input()
    var bytes = unsafe Array(input.bytes)
    if recipe.verb == Rotation.rotated.verb {
      guard let steps = recipe.arguments.flatMap({ RotationSteps($0[...]) }) else { throw .unknown }
      bytes = Array("rot:".utf8) + bytes.map { Self.rotated($0, by: UInt8(steps.count ?? 13)) }
    } else {
      bytes = Array("mark:".utf8) + bytes
    }
    try unsafe output.write(bytes.span.bytes)
    return "is rotated"
  }

  private static func rotated(_ byte: UInt8, by steps: UInt8) -> UInt8 {
    for first in [UInt8(ascii: "a"), UInt8(ascii: "A")] where byte >= first && byte < first + 26 {
      return (byte - first + steps) % 26 + first
    }
    return byte
  }
}
