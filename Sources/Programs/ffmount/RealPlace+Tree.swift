import AllViews
import Assembly
import Bytes
import Catalogue
import FileTrees
import Index
import Jobs
import Logging
import RenditionViews
import Tree

extension RealPlace {
  /// Returns the tree that a mount of the directory would show, with conversions. Throws a refusal if no conversion is
  /// possible.
  ///
  /// - Parameters:
  ///   - options: the mount options.
  ///   - isWanted: returns whether a worker program may be used.
  func tree(_ index: Index, _ options: [String] = [], programs isWanted: (String) -> Bool = { _ in true }) throws
    -> Tree
  {
    guard let conversions = try Converter.conversions(forCommand: index, options, programs: isWanted) else {
      throw Refusal(.failure, "ffconvert is not installed (\(Converter.remedy()))")
    }
    let views = Views(index: index, spools: ShownSource.spoolFolder, conversions: conversions)
    do throws(Fault) { return try Tree(mirroring: root, views: views) } catch {
      throw Refusal(.sourceMissing, "\(describe(error))\(Refusal.readAdvice(error))")
    }
  }
}

extension Converter {
  /// Returns the conversions for a command that shows its own progress. Only warnings are logged. Returns `nil` if no
  /// conversion is possible.
  ///
  /// - Parameters:
  ///   - options: the options of the mount that the command replaces.
  ///   - isWanted: returns whether a worker program may be used.
  fileprivate static func conversions(
    forCommand index: Index, _ options: [String] = [], programs isWanted: (String) -> Bool
  ) throws -> Conversions? {
    var logger = Logger(label: "ffmount") { _ in TerminalLogHandler() }
    logger.logLevel = .warning
    return try conversions(
      MountOptions(options), index: index, cacheFolder: CacheFolder.path(), spools: ShownSource.spoolFolder, logger,
      programs: isWanted)
  }

  /// Returns the service that reads mail stores. Returns `nil` if its program is not installed. Workers start on
  /// demand.
  static func mailWorkers(_ index: Index) throws -> ConversionService? {
    try conversions(forCommand: index) { Conversion.letters.programs.contains($0) }?.renditions
  }
}
