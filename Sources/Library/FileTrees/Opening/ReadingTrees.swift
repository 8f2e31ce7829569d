internal import AllViews
internal import Bytes
internal import FindViews
internal import Index
internal import Locks
internal import RenditionViews
internal import Tree
internal import Zip

/// The trees that read the files of a source for an index, each made when it is first needed.
final class ReadingTrees: IndexedTrees {
  private let source: TreeSource
  private let settings: TreeSettings
  private let index: Index?
  private let converts: Bool
  /// The root directory, if it is open already: its path may lead into a mount of this process.
  private let root: RealRoot?
  private let trees = UnfairLock<[Bool: (tree: Tree, programs: ReadingPrograms)]>([:])

  /// The maximum number of archives in each other that are read. More than a listing shows.
  private static let depth = 8

  init(_ source: TreeSource, _ settings: TreeSettings, _ index: Index?, converts: Bool, root: RealRoot? = nil) {
    var settings = settings
    settings.isWritable = false
    // Views are listed regardless of what a user wants to see.
    settings.listing = ViewListing()
    settings.depth = Self.depth
    // Each search may be of another user, or without the password, so no text that needs one is in an index.
    settings.zip.passwords = Passwords()
    self.settings = settings
    (self.source, self.index, self.converts, self.root) = (source, index, converts, root)
  }

  /// Returns the tree. Without `recognizesText`, the text of a PDF is its own, and pictures have none.
  func tree(recognizesText: Bool) throws(Fault) -> (tree: Tree, programs: ReadingPrograms) {
    if let known = trees.withLock({ $0[recognizesText] }) { return known }
    let isWanted = { (program: String) in recognizesText || program != Converter.recognition }
    let programs = Converter.readingPrograms(settings, isWanted)
    let conversions =
      converts
      ? Converter.conversions(
        settings, index: index, cacheFolder: index?.folder, spools: TreeSource.spoolFolder, programs: isWanted,
        log: { _ in }) : nil
    let reserve = TreeSource.reserve(settings, conversions)
    let made = try source.tree(settings, index, conversions, reserve: reserve, root: root, isSearched: false).0
    let known = trees.withLock { trees in
      let known = trees[recognizesText] ?? (made, programs)
      trees[recognizesText] = known
      return known
    }
    if known.tree !== made { made.stop() }
    return known
  }

  /// Stops the work of all trees.
  func stop() {
    for (tree, _) in trees.withLock({ Array($0.values) }) { tree.stop() }
  }
}
