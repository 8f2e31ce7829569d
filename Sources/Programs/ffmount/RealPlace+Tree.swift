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
  /// The tree that a mount of the folder would show, with what can be converted; throws a refusal if nothing can.
  ///
  /// - Parameters:
  ///   - options: of the mount.
  ///   - isWanted: whether a worker program may be used.
  func tree(_ index: Index, _ options: [String] = [], programs isWanted: (String) -> Bool = { _ in true }) throws
    -> Tree
  {
    guard let conversions = try Converter.conversions(forCommand: index, options, programs: isWanted) else {
      throw Refusal(.failure, "there is no ffconvert beside ffmount (see scripts/install)")
    }
    let views = Views(index: index, spools: ShownSource.spoolFolder, conversions: conversions)
    do throws(Fault) { return try Tree(mirroring: root, views: views) } catch {
      throw Refusal(.sourceMissing, "\(describe(error)) (check its permissions)")
    }
  }
}

extension Converter {
  /// What a command converts with that shows its own progress: only warnings are logged. nil if nothing can be converted.
  ///
  /// - Parameters:
  ///   - options: of the mount that it stands for.
  ///   - isWanted: whether a worker program may be used.
  fileprivate static func conversions(
    forCommand index: Index, _ options: [String] = [], programs isWanted: (String) -> Bool
  ) throws -> Conversions? {
    var logger = Logger(label: "ffmount") { _ in TerminalLogHandler() }
    logger.logLevel = .warning
    return try conversions(
      MountOptions(options), index: index, cacheFolder: CacheFolder.path(), spools: ShownSource.spoolFolder, logger,
      programs: isWanted)
  }

  /// What reads mail stores; nil if its program is not there. No worker starts before one is read.
  static func mailWorkers(_ index: Index) throws -> ConversionService? {
    try conversions(forCommand: index) { Conversion.letters.programs.contains($0) }?.renditions
  }
}
