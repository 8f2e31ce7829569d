internal import Archives
internal import Catalogue
internal import WorkerKit

/// Lists archives, and unpacks their entries.
struct ArchiveHandler: JobHandler {
  static let verbs = Conversion.archives.map(\.verb)

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    if recipe.verb == Conversion.entries.verb {
      try EntryLister.list(order.input(), to: output)
      return ""
    }
    if recipe.verb == Conversion.decoded.verb {
      guard let entry = recipe.arguments.flatMap({ PackedEntry($0[...]) }) else { throw .unknown }
      try PackedEntryWriter.write(entry, of: order.input(), to: output)
      return ""
    }
    let runs = recipe.arguments.flatMap { PageSelection($0[...]) }?.runs
    guard let run = runs?.first, let last = run.last, last >= run.first else { throw .unknown }
    try MemberWriter.write(run.first - 1...last - 1, of: order.input(), to: output)
    return ""
  }

  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    // The size is in the listing.
    guard case .measure = order.job.work else { throw .unknown }
    return .done(JobAnswer.unmeasured)
  }
}
