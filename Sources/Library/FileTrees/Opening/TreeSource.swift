internal import AllViews
package import Bytes
package import Files
internal import FindViews
internal import Glibc
package import Index
package import RenditionViews
internal import Threads
package import Tree

/// The directory or file from which a tree is created.
package struct TreeSource: Sendable {
  /// The absolute path, with symbolic links resolved.
  package let path: String
  package let isFolder: Bool
  /// The open files handed over by the previous process, and the record of those of this process. `nil` for a tree
  /// without handover.
  package var openLedger: OpenLedger?

  /// Creates a source.
  ///
  /// - Parameter given: The path as given by a user.
  /// - Throws: A system fault if the path is missing or unreadable, an unsupported one if it is neither a directory nor
  ///   a file.
  package init(_ given: String) throws(Fault) {
    guard let resolved = unsafe realpath(given, nil) else { throw Fault(.system(errno)) }
    defer { unsafe free(resolved) }
    guard let path = unsafe String(validatingCString: resolved) else {
      throw Fault(.unsupported, "its path is not in UTF-8")
    }
    self.path = path
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw Fault(.system(errno)) }
    isFolder = status.st_mode & S_IFMT == S_IFDIR
    guard isFolder || status.st_mode & S_IFMT == S_IFREG else {
      throw Fault(.unsupported, "neither a folder nor a file")
    }
    guard unsafe access(path, isFolder ? R_OK | X_OK : R_OK) == 0 else { throw Fault(.system(errno)) }
  }

  /// The directory for large temporary files. /tmp may be in memory.
  package static var spoolFolder: String {
    let given = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) }
    return given.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/var/tmp"
  }

  /// The directory of the tree's real files, and the name of the shown file in it, if the source is a file.
  private var place: (folder: String, name: FileName?) {
    if isFolder { return (path, nil) }
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    return (
      slash == path.startIndex ? "/" : String(path[..<slash]), FileName(path[path.index(after: slash)...].utf8)
    )
  }

  /// Returns the tree, and the root directory of its real files.
  ///
  /// - Parameters:
  ///   - index: Stores expensive results.
  ///   - conversions: The conversions. `nil` if nothing is converted.
  ///   - reserve: The number of the process's descriptors reserved for purposes other than files.
  ///   - ledger: The nodes handed over by the previous process, and to the next one.
  ///   - opened: The root directory, if it is open already.
  ///   - isSearched: Whether the tree has views of searches, which make an index. A tree without them that is of a file
  ///     shows the directory of the file, and one without them has no views of another mount of ffmount.
  package func tree(
    _ settings: TreeSettings, _ index: Index?, _ conversions: Conversions?, reserve: Int,
    ledger: PersistentNodeTable? = nil, root opened: RealRoot? = nil, isSearched: Bool = true
  ) throws(Fault) -> (Tree, RealRoot) {
    let memory = conversions?.memory ?? MemoryBudget(capacity: Int(settings.memory), trimsHeap: true)
    let (folder, name) = place
    let root =
      if let opened { opened } else {
        try RealRoot(
          Descriptor.open(path: folder, for: .place), pool: DescriptorPool.fittingProcess(reserve: reserve),
          path: folder, named: settings.sourceID)
      }
    let searches = isSearched ? self.searches(settings, index, root, converts: conversions != nil) : nil
    let views = Views(
      listing: settings.listing, depth: settings.depth, index: index, zip: settings.zip, spools: Self.spoolFolder,
      conversions: conversions, searches: searches, memory: memory)
    guard let name, isSearched else {
      return (
        try Tree(
          mirroring: root, views: views, overrides: settings.overrides, isShared: settings.isShared,
          keepsHandles: settings.keepsHandles, isWritable: settings.isWritable, hasOwnViewsOnly: !isSearched,
          ledger: ledger, openLedger: openLedger), root
      )
    }
    let top = try FileRoot(
      name, in: root, views: views, preferred: settings.view, canBeLocked: settings.canBeLocked)
    return (
      Tree(
        root: top, views: views, overrides: settings.overrides, isShared: settings.isShared,
        keepsHandles: settings.keepsHandles, ledger: ledger), root
    )
  }

  /// Returns the searches of the tree's folders.
  private func searches(
    _ settings: TreeSettings, _ index: Index?, _ root: RealRoot, converts: Bool
  ) -> FindService {
    let reading = ReadingTrees(self, settings, index, converts: converts, root: root)
    return FindService.searching(
      index ?? Index(folder: nil), shared: settings.sharedCache, by: reading, isOfFile: !isFolder)
  }

  /// Returns the number of descriptors for the workers' sockets, standard streams and the log.
  package static func reserve(_ settings: TreeSettings, _ conversions: Conversions?) -> Int {
    let workers = conversions == nil ? 0 : settings.workers ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))
    return 16 + 4 * workers
  }
}
