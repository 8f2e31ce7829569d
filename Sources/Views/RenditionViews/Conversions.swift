public import Bytes
package import Catalogue
public import Index
public import Jobs
public import Threads
internal import Tree

/// The services for the views that convert.
public final class Conversions: Sendable {
  package let renditions: ConversionService
  /// The available conversions.
  package let catalogue: Catalogue
  package let known: ResultSizes
  package let memory: MemoryBudget

  /// Creates the services. `cache` and `index` are nil if nothing outlives the mount. `spools` is a directory for large
  /// temporary files. `passwords` are for PDFs that require one. `memory` is the budget of all caches in memory.
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

  /// An instance that describes the conversions of the standard catalogue and performs none.
  public static let withoutWorkers = Conversions(
    ConversionPool.Options(program: "/nonexistent"), cache: nil, index: nil, spools: "/nonexistent")

  /// Returns a file's format: that of the conversion that created it, that of its name, or that of its first bytes. A
  /// name is trusted without reading the file.
  func format(of source: Source, _ blocking: BlockingMode) throws(Fault) -> Format? {
    if let made = source.item as? RenditionFile { return catalogue.conversion(made.recipe.verb)?.result }
    if source.item.knownHead == nil, let known = source.name.fileExtension.flatMap(catalogue.format(named:)) {
      return known
    }
    return catalogue.format(startingWith: try source.head(blocking))
  }

  /// The conversions in progress, and those that failed.
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

  /// Ends the workers. Each view that uses them calls this, and the first call waits.
  func stop() { renditions.stop() }
}

extension SourceState {
  var subject: ConversionService.Subject {
    ConversionService.Subject(
      revision: revision, owner: source.item.soleOwner(source.attributes), path: { [self] in path },
      open: { [self] (blocking) throws(Fault) in try open(blocking) })
  }
}
