internal import Catalogue
internal import Glibc
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
    if recipe.verb == Rotation.dripping.verb { return try drip(bytes, to: output) }
    if recipe.verb == Rotation.stretched.verb, let part = order.part {
      bytes = part.map { bytes[Int($0) / Rotation.stretch] }
      try unsafe output.write(bytes.span.bytes)
      return ""
    }
    if recipe.verb == Rotation.rotated.verb {
      guard let steps = recipe.arguments.flatMap({ RotationSteps($0[...]) }) else { throw .unknown }
      bytes = Array("rot:".utf8) + bytes.map { Self.rotated($0, by: UInt8(steps.count ?? 13)) }
    } else {
      bytes = Array("mark:".utf8) + bytes
    }
    try unsafe output.write(bytes.span.bytes)
    return "is rotated"
  }

  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    let input = try order.input()
    switch order.job.work.verb {
    case Rotation.dripping.verb: return .done(input.starts(with: [UInt8(ascii: "M")]) ? Int64(input.count) : 0)
    case Rotation.stretched.verb: return .done(Int64(input.count * Rotation.stretch))
    default: throw .unknown
    }
  }

  private func drip(_ bytes: [UInt8], to output: JobOutput) throws(JobFailure) -> String {
    let step = bytes.count / 4
    for place in 0..<4 {
      if place == 3, String(decoding: bytes, as: UTF8.self).contains("BAD") { throw JobFailure(.damaged, "is bad") }
      let piece = Array(bytes[(place * step)..<(place == 3 ? bytes.count : (place + 1) * step)])
      try unsafe output.write(piece.span.bytes)
      output.tell(bytes: Int64((place + 1) * step), thousandths: Int64(place + 1) * 250)
      _ = usleep(300_000)
    }
    return ""
  }

  private static func rotated(_ byte: UInt8, by steps: UInt8) -> UInt8 {
    for first in [UInt8(ascii: "a"), UInt8(ascii: "A")] where byte >= first && byte < first + 26 {
      return (byte - first + steps) % 26 + first
    }
    return byte
  }
}
