internal import Catalogue
internal import Disks
internal import WorkerKit

/// Lists disk images and encrypted archives, and unpacks their entries.
struct DiskHandler: JobHandler {
  static let verbs = Conversion.disks.map(\.verb)
  private var documents = OpenDocuments<DiskArchive>()

  var openDocuments: Int { documents.count }
  mutating func closeOne() -> Bool { documents.closeOne() }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let archive = try archive(order)
    switch recipe.verb {
    case Conversion.entries(by: .disk).verb:
      try DiskLister.list(archive, to: output)
      return ""
    case Conversion.outline.verb:
      try DiskLister.list(archive, withoutPassword: true, to: output)
      return ""
    default: break
    }
    let run = try Self.run(recipe)
    if recipe.verb == Conversion.entryParts.verb {
      try archive.write(run.lowerBound, order.part, to: output)
    } else {
      try DiskWriter.write(run, of: archive, to: output)
    }
    return ""
  }

  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    switch order.job.work {
    case .findPasswords:
      let input = try order.piecewiseInput()
      let found = try DiskArchive.password(for: input, among: order.job.passwords)
      return found.map { .done(1, remark: "\($0)") } ?? .done(0)
    case .measure(let recipe) where recipe.verb == Conversion.entryParts.verb:
      return .done(try archive(order).size(of: Self.run(recipe).lowerBound))
    // The size is in the listing.
    case .measure: return .done(JobAnswer.unmeasured)
    case .count, .make, .part, .series: throw .unknown
    }
  }

  /// Returns the job's archive, which may be open.
  private mutating func archive(_ order: JobOrder) throws(JobFailure) -> DiskArchive {
    func open() throws(JobFailure) -> DiskArchive {
      try DiskArchive(order.piecewiseInput(), passwords: order.job.passwords)
    }
    let archive = try documents.document(order.job.document, open)
    // It was opened before its password was known.
    return archive.lacksPassword(order.job.passwords) ? try open() : archive
  }

  /// Returns the numbers of the entries, from 0.
  private static func run(_ recipe: Recipe) throws(JobFailure) -> ClosedRange<Int> {
    let runs = recipe.arguments.flatMap { PageSelection($0[...]) }?.runs
    guard let run = runs?.first, let last = run.last, last >= run.first else { throw .unknown }
    return run.first - 1...last - 1
  }
}
