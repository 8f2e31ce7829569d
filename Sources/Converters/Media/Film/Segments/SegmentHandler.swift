public import Catalogue
public import WorkerKit

/// A handler that divides videos into segments. It counts them, lists them for players, and makes each.
public struct SegmentHandler: JobHandler {
  public static let verbs = [Conversion.playlist.verb, Conversion.segment.verb]

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let plan = try SegmentPlan(MediaInput(order.input()))
    if recipe.verb == Conversion.playlist.verb {
      try unsafe output.write(Array(plan.playlist.utf8).span.bytes)
      return ""
    }
    guard let selection = recipe.arguments.flatMap({ PageSelection($0[...]) }), let number = selection.runs.first?.first
    else { throw .unknown }
    guard number <= plan.count else { throw JobFailure(.absent, "has no such segment") }
    try Segment(number - 1, of: plan).write(to: output)
    return ""
  }

  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .count = order.job.work else { throw .unknown }
    return try .done(Int64(SegmentPlan(MediaInput(order.input())).count))
  }
}
