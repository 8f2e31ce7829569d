package import Bytes
package import Index
internal import Locks
internal import Threads
package import Tree

/// The trees by which files are read for an index.
package protocol IndexedTrees: AnyObject, Sendable {
  /// Returns the tree, which recognizes text in pictures or does not, and the programs by which it reads files. Its root is
  /// that of the tree with the searches.
  func tree(recognizesText: Bool) throws(Fault) -> (tree: Tree, programs: ReadingPrograms)

  /// Stops the work of all trees.
  func stop()
}

/// The searches of a tree's folders, with the work that keeps their indexes up to date.
public final class FindService: Sendable {
  private let index: Index
  /// The directory of several machines that may have parts of the indexes. `nil` for none.
  private let shared: String?
  private let trees: (any IndexedTrees)?
  /// Whether the tree is of one file, whose view is the root.
  let isOfFile: Bool
  private let searches = UnfairLock<[[FileName]: OpenSearch]>([:])
  /// The tree that shows the results.
  private let shown = UnfairLock(Reference())
  /// The threads of the searches, of which each reads one folder.
  private let workers = ThreadPool(atMost: 2)
  /// The work that keeps the index of the whole tree up to date.
  private let idle = UnfairLock<IdleIndexing?>(nil)
  /// The indexes that cannot be stored, which are kept as long as the searches.
  private let temporary = UnfairLock<[Place: FolderFinder]>([:])

  private struct Place: Hashable {
    let path: [FileName]
    let recognizesText: Bool
  }

  private struct Reference: Sendable {
    weak var tree: Tree?
  }

  /// - Parameters:
  ///   - index: Stores the indexes.
  ///   - shared: The directory of several machines that may have parts of the indexes. `nil` for none.
  ///   - trees: Read the files. They are stopped with the searches. `nil` to search nothing.
  private init(index: Index, shared: String? = nil, trees: (any IndexedTrees)?, isOfFile: Bool) {
    (self.index, self.shared, self.trees, self.isOfFile) = (index, shared, trees, isOfFile)
  }

  /// Creates the searches. Not an initializer: the optimizer of Swift 6.3.1 crashes where another module calls that.
  @inline(never) package static func searching(
    _ index: Index, shared: String?, by trees: any IndexedTrees, isOfFile: Bool
  ) -> FindService {
    FindService(index: index, shared: shared, trees: trees, isOfFile: isOfFile)
  }

  /// An instance that describes the views of searches and searches nothing.
  public static let described = FindService(index: Index(folder: nil), trees: nil, isOfFile: false)

  /// The tree that shows the results. `nil` once it is gone.
  var tree: Tree? { shown.withLock { $0.tree } }

  func attach(_ tree: Tree) { shown.withLock { $0.tree = tree } }

  /// Returns the search of the folder at a path from the root. Blocks.
  func search(_ path: [FileName]) throws(Fault) -> OpenSearch {
    if let known = searches.withLock({ $0[path] }), !known.hasExpired { return known }
    let finder = try finder(path)
    return searches.withLock { searches in
      if let known = searches[path], !known.hasExpired { return known }
      let search = OpenSearch(finder, workers)
      searches[path] = search
      return search
    }
  }

  /// Returns the index of the folder at a path from the root, which is temporary if it cannot be stored. Blocks.
  ///
  /// - Parameters:
  ///   - recognizesText: whether text in pictures is recognized. An index that has such text is always kept.
  ///   - part: the part of the index to make, from 0, and the number of all. `nil` to search.
  package func finder(
    _ path: [FileName], recognizesText: Bool = false, part: (number: Int, count: Int)? = nil
  ) throws(Fault) -> FolderFinder {
    // In a mount of a file, the root is a view of that file.
    let file = tree?.shownFile
    func folder(_ recognizesText: Bool) throws(Fault) -> (place: ResolvedPath, programs: ReadingPrograms) {
      guard let (tree, programs) = try trees?.tree(recognizesText: recognizesText) else { throw .noDocumentIndex }
      let place = try waiting { () throws(Fault) in
        try ResolvedPath.find(path, in: tree, followsLast: false, .blocking)
      }
      return (place, programs)
    }
    let plain = try folder(false)
    let isRecognized =
      recognizesText || FolderFinder.hasRecognizedText(plain.place, of: file.map(\.file), index, shared: shared)
    let place = Place(path: path, recognizesText: isRecognized)
    if part == nil, let known = temporary.withLock({ $0[place] }) { return known }
    let (folder, programs) = isRecognized ? try folder(true) : plain
    let made = try FolderFinder(
      folder, index: index, by: programs, readsPictures: isRecognized,
      file: file.map { ($0.file, $0.view) }, part: part, shared: shared)
    guard made.isTemporary else { return made }
    return temporary.withLock { temporary in
      let finder = temporary[place] ?? made
      temporary[place] = finder
      return finder
    }
  }

  /// Keeps the index of the whole tree up to date from now on, while the machine is idle.
  package func indexWhileIdle(_ idleness: Idleness = Idleness()) {
    let idle = idle.withLock { idle -> IdleIndexing? in
      if idle != nil { return nil }
      idle = IdleIndexing(idleness)
      return idle
    }
    idle?.start { [weak self] () throws(Fault) in
      guard let self else { throw .interrupted }
      return try search([])
    }
  }

  /// The work in progress.
  var work: WorkReport {
    let obstacle = idle.withLock { $0?.obstacle }
    var work = WorkReport()
    for (path, search) in searches.withLock({ $0 }) {
      guard let progress = search.progress else { continue }
      work.activities.append(
        WorkReport.Activity(
          .documents, path: "/" + path.map(\.text).joined(separator: "/"),
          recipe: path.isEmpty ? obstacle?.rawValue ?? "" : "",
          progress: progress.isScanned ? (progress.bytesDone, progress.bytes) : nil))
    }
    if let obstacle, work.activities.isEmpty {
      work.activities.append(WorkReport.Activity(.documents, path: "/", recipe: obstacle.rawValue))
    }
    return work
  }

  func stop() {
    let idle = idle.withLock { $0 }
    idle?.stop()
    for search in searches.withLock({ Array($0.values) }) { search.stop() }
    // Conversions first: a search may be waiting for one.
    trees?.stop()
    workers.stop()
    idle?.finish()
  }
}

extension FindService {
  /// Returns a part of the documents that match a query. Blocks.
  ///
  /// The index is that of the whole tree, which is brought up to date before as far as possible in `limit`.
  ///
  /// - Parameters:
  ///   - folder: the path of a directory from the root, which may be in a view. The documents are below it.
  ///   - start: the number of documents that match before the part.
  ///   - end: the time at which no further documents are read.
  package func page(
    of query: FindQuery, below folder: [FileName], from start: Int, atMost count: Int, within limit: Duration,
    until end: ContinuousClock.Instant
  ) throws(Fault) -> FoundPage {
    let path = Array(folder.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
    return try search([]).page(of: query, below: path, from: start, atMost: count, within: limit, until: end)
  }
}

extension Tree {
  /// The searches of its folders. `nil` if it has none.
  package var searches: FindService? { views.all.firstNonNil { ($0 as? SearchView)?.service } }
}
