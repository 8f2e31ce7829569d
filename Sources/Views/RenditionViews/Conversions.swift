public import Bytes
package import Catalogue
public import Index
public import Jobs
public import Threads
package import Tree

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
    _ options: ConversionPool.Options, cache: DiskCache?, index: Index?, spools: String,
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

extension Conversions {
  /// Returns a file that is converted from another, as `NAME.as-FORMAT`.
  func made(
    of source: Source, by conversion: Conversion, _ recipe: Recipe, isListed: Bool, _ blocking: BlockingMode
  ) throws(Fault) -> LookupResult {
    let item = RenditionFile(
      SourceState(source), recipe, self, view: "as-\(conversion.result.name)", isListed: isListed,
      estimate: conversion.estimate(
        fromFileOf: source.attributes.size, source.name.fileExtension.flatMap(catalogue.format(named:))))
    return LookupResult(item, try item.attributes(blocking))
  }

  /// Returns the result of several conversions of a file, one after the other. Each result is a file of its own.
  func source(
    _ source: Source, after steps: some Sequence<Conversion>, _ blocking: BlockingMode
  ) throws(Fault) -> Source {
    var source = source
    for step in steps {
      let found = try made(of: source, by: step, step.plainRecipe, isListed: false, blocking)
      source = Source(
        item: found.item, attributes: found.attributes, name: FormatSuffix.name.name(of: source.name, as: step.result),
        folder: source.folder)
    }
    return source
  }

  /// Returns a source that a conversion can read: the file itself, or the result of the shortest chain of other
  /// conversions. Returns `nil` if there is none.
  func source(_ source: Source, for conversion: Conversion, _ blocking: BlockingMode) throws(Fault) -> Source? {
    guard let format = try format(of: source, blocking), let chain = catalogue.chain(from: format, to: conversion)
    else {
      return nil
    }
    return try self.source(source, after: chain.dropLast(), blocking)
  }

  /// A function that converts an Outlook message to an ordinary one and returns `nil` for other files. Nil if no
  /// program supports that.
  package var outlook: (@Sendable (Source, BlockingMode) throws(Fault) -> Source?)? {
    guard let conversion = catalogue.conversion(Conversion.message.verb) else { return nil }
    return { [self] (source, blocking) throws(Fault) in
      guard let format = try format(of: source, blocking), conversion.sources.contains(format) else { return nil }
      return try self.source(source, after: [conversion], blocking)
    }
  }
}
