public import Bytes
package import Catalogue
public import Index
public import Jobs
public import Threads
internal import Tree

/// What the views that convert share.
public final class Conversions: Sendable {
  package let renditions: ConversionService
  /// What can be made here.
  package let catalogue: Catalogue
  package let known: ResultSizes
  package let memory: MemoryBudget

  /// `cache` and `index` are nil where nothing outlives the mount; `spools` is a folder for large temporary files;
  /// `passwords` are for PDFs that ask for one; `memory` is for everything that is cached in memory.
  public init(
    _ options: ConversionPool.Options, cache: RenditionCache?, index: Index?, spools: String,
    passwords: Passwords = Passwords(), memory: MemoryBudget = MemoryBudget()
  ) {
    self.memory = memory
    catalogue = options.catalogue
    known = ResultSizes(index: index)
    renditions = ConversionService(
      pool: ConversionPool(options), cache: cache, spools: spools, notes: known, passwords: passwords,
      memory: memory)
  }

  /// Describes what the standard catalogue can make, and makes nothing.
  public static let withoutWorkers = Conversions(
    ConversionPool.Options(program: "/nonexistent"), cache: nil, index: nil, spools: "/nonexistent")

  /// A file's format: what it was made as, or by its name, which is believed without reading the file, or else by its
  /// first bytes.
  func format(of source: Source, _ patience: Patience) throws(Fault) -> Format? {
    if let made = source.item as? RenditionFile { return catalogue.conversion(made.recipe.verb)?.result }
    if source.item.knownHead == nil, let known = source.name.fileExtension.flatMap(catalogue.format(named:)) {
      return known
    }
    return catalogue.format(startingWith: try source.head(patience))
  }

  /// What is being converted, and what could not be.
  var work: WorkReport {
    let report = renditions.report
    var work = WorkReport()
    work.activities = report.running.map { job in
      WorkReport.Activity(
        .converting, path: job.path, recipe: job.recipe, progress: job.thousandths.map { ($0, 1000) },
        seconds: job.seconds)
    }
    (work.waiting, work.made) = (report.waiting, report.made)
    work.failures = report.failures.map { WorkReport.Failure(path: $0.path, recipe: $0.recipe, reason: $0.reason) }
    return work
  }

  /// Ends the workers; called by each view that has them work, the first of which waits.
  func stop() { renditions.stop() }
}

extension SourceState {
  var subject: ConversionService.Subject {
    ConversionService.Subject(
      revision: revision, owner: source.item.soleOwner(source.attributes), path: { [self] in path },
      open: { [self] (patience) throws(Fault) in try open(patience) })
  }
}
