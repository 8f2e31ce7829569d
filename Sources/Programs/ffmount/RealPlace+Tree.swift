import AllViews
import Assembly
import Bytes
import Index
import Logging
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
    var logger = Logger(label: "ffmount") { _ in TerminalLogHandler() }
    logger.logLevel = .warning
    let spools = ShownSource.spoolFolder
    guard
      let conversions = try Converter.conversions(
        MountOptions(options), index: index, cacheFolder: CacheFolder.path(), spools: spools, logger,
        programs: isWanted)
    else { throw Refusal(.failure, "there is no ffconvert beside ffmount (see scripts/install)") }
    let views = Views(index: index, spools: spools, conversions: conversions)
    do throws(Fault) { return try Tree(mirroring: root, views: views) } catch {
      throw Refusal(.sourceMissing, "\(describe(error)) (check its permissions)")
    }
  }
}
