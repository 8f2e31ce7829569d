internal import Catalogue
internal import Disks
internal import WorkerKit

/// Lists disk images, their deleted files, and encrypted archives, and unpacks their entries.
struct DiskHandler: JobHandler {
  static let verbs = Conversion.disks.map(\.verb)
  private var documents = OpenDocuments<any DiskReader>()

  var openDocuments: Int { documents.count }
  mutating func closeOne() -> Bool { documents.closeOne() }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let archive = try archive(order, ofDeleted: recipe.verb.hasPrefix(ArchiveReader.deleted.rawValue))
    switch recipe.verb {
    case Conversion.entries(by: .disk).verb, Conversion.entries(by: .deleted).verb:
      try archive.list(withoutPassword: false, to: output)
      return ""
    case Conversion.outline.verb:
      try archive.list(withoutPassword: true, to: output)
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
      return .done(try archive(order, ofDeleted: false).size(of: Self.run(recipe).lowerBound))
    // The size is in the listing.
    case .measure: return .done(JobAnswer.unmeasured)
    case .count, .make, .part, .series: throw .unknown
    }
  }

  /// Returns the job's archive, which may be open.
  private mutating func archive(_ order: JobOrder, ofDeleted isOfDeleted: Bool) throws(JobFailure) -> any DiskReader {
    func open() throws(JobFailure) -> any DiskReader {
      isOfDeleted ? try Self.openDeleted(order) : try Self.open(order)
    }
    // The lists of one image have numbers of their own.
    let number = order.job.document
    let archive = try documents.document(number == 0 || !isOfDeleted ? number : ~number, open)
    // It was opened before its password was known.
    return archive.lacksPassword(order.job.passwords) ? try open() : archive
  }

  /// Opens the job's archive. 7-Zip takes the file systems that the other libraries do not read.
  private static func open(_ order: JobOrder) throws(JobFailure) -> any DiskReader {
    let input = try order.piecewiseInput()
    var failure: JobFailure?
    do throws(JobFailure) {
      if let image = try FileSystemImage(input, ofDeleted: false) { return image }
    } catch {
      guard [.damaged, .unsupported].contains(error.failure) else { throw error }
      failure = error
    }
    do throws(JobFailure) { return try DiskArchive(input, passwords: order.job.passwords) } catch {
      throw failure ?? error
    }
  }

  private static func openDeleted(_ order: JobOrder) throws(JobFailure) -> any DiskReader {
    if let image = try FileSystemImage(order.piecewiseInput(), ofDeleted: true) { return image }
    throw JobFailure(.unsupported, "is not of a file system whose deleted files are found")
  }

  /// Returns the numbers of the entries, from 0.
  private static func run(_ recipe: Recipe) throws(JobFailure) -> ClosedRange<Int> {
    let runs = recipe.arguments.flatMap { PageSelection($0[...]) }?.runs
    guard let run = runs?.first, let last = run.last, last >= run.first else { throw .unknown }
    return run.first - 1...last - 1
  }
}
