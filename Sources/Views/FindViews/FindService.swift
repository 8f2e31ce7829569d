package import Bytes
package import Index
internal import Locks
internal import Threads
package import Tree

/// The trees by which files are read for an index.
package protocol IndexedTrees: AnyObject, Sendable {
  /// Returns the tree, which recognizes text in pictures or does not. Its root is that of the tree with the searches.
  func tree(recognizesText: Bool) throws(Fault) -> Tree

  /// Stops the work of all trees.
  func stop()
}

/// The searches of a tree's folders, with the work that keeps their indexes up to date.
public final class FindService: Sendable {
  private let index: Index
  private let trees: (any IndexedTrees)?
  /// Whether the tree is of one file, whose view is the root.
  let isOfFile: Bool
  private let searches = UnfairLock<[[FileName]: OpenSearch]>([:])
  /// The tree that shows the results.
  private let shown = UnfairLock(Reference())
  /// The threads of the searches, of which each reads one folder.
  private let workers = ThreadPool(atMost: 2)

  private struct Reference: Sendable {
    weak var tree: Tree?
  }

  /// - Parameters:
  ///   - index: Stores the indexes.
  ///   - trees: Read the files. They are stopped with the searches. `nil` to search nothing.
  private init(index: Index, trees: (any IndexedTrees)?, isOfFile: Bool) {
    (self.index, self.trees, self.isOfFile) = (index, trees, isOfFile)
  }

  /// Creates the searches. Not an initializer: the optimizer of Swift 6.3.1 crashes where another module calls that.
  @inline(never) package static func searching(
    _ index: Index, by trees: any IndexedTrees, isOfFile: Bool
  ) -> FindService {
    FindService(index: index, trees: trees, isOfFile: isOfFile)
  }

  /// An instance that describes the views of searches and searches nothing.
  public static let described = FindService(index: Index(folder: nil), trees: nil, isOfFile: false)

  /// The tree that shows the results. `nil` once it is gone.
  var tree: Tree? { shown.withLock { $0.tree } }

  func attach(_ tree: Tree) { shown.withLock { $0.tree = tree } }

  /// Returns the search of the folder at a path from the root. Blocks.
  func search(_ path: [FileName]) throws(Fault) -> OpenSearch {
    if let known = searches.withLock({ $0[path] }) { return known }
    let finder = try finder(path)
    return searches.withLock { searches in
      if let known = searches[path] { return known }
      let search = OpenSearch(finder, workers)
      searches[path] = search
      return search
    }
  }

  /// Returns the index of the folder at a path from the root. Blocks.
  package func finder(_ path: [FileName]) throws(Fault) -> FolderFinder {
    // In a mount of a file, the root is a view of that file.
    let file = tree?.shownFile
    func folder(_ recognizesText: Bool) throws(Fault) -> ResolvedPath {
      guard let tree = try trees?.tree(recognizesText: recognizesText) else { throw .noDocumentIndex }
      return try waiting { () throws(Fault) in try ResolvedPath.find(path, in: tree, followsLast: false, .blocking) }
    }
    let plain = try folder(false)
    let isRecognized = FolderFinder.hasRecognizedText(plain, of: file.map(\.file), index)
    let found = try isRecognized ? folder(true) : plain
    return try FolderFinder(
      found, index: index, readsPictures: isRecognized, file: file.map { ($0.file, $0.view) })
  }

  func stop() {
    for search in searches.withLock({ Array($0.values) }) { search.stop() }
    // Conversions first: a search may be waiting for one.
    trees?.stop()
    workers.stop()
  }
}

/// The search of one folder in a tree: its index, the work on it, and the latest results.
final class OpenSearch: Sendable {
  private let finder: FolderFinder
  private let workers: ThreadPool
  private let state = Monitor(State())

  private struct State: Sendable {
    var crawl: FolderCrawl?
    var isUpdating = false
    var isStopped = false
    /// The end of the last update. `nil` before the first.
    var updatedAt: ContinuousClock.Instant?
    /// Whether the last update read everything.
    var isComplete = false
    var known: [Key: Results] = [:]
    /// The latest queries of each user, the most recent first. Those of this process have the user `nil`.
    var latest: [UInt32?: [FileName]] = [:]
  }

  /// A query of a process with certain rights. `nil` for those of this process.
  private struct Key: Hashable {
    let query: [UInt8]
    let rights: UInt64?
  }

  /// The results of a query as a folder shows them.
  struct Results: Sendable {
    let query: FindQuery
    let hits: [FolderFinder.Hit]
    /// The total number of documents that match, of which `hits` are the first.
    let count: Int
    /// The percentage that was searched. `nil` if everything was.
    let percent: Int?
    /// A query with a known word. `nil` if there is none.
    let suggestion: String?
    let at: ContinuousClock.Instant
  }

  /// The maximum number of results in a folder.
  static let most = 500
  private static let knownAtMost = 64
  private static let latestAtMost = 10
  private static let usersAtMost = 1000
  /// The time of which the answers to other users take multiples, so that it does not tell how much they may not read.
  private static let step = Duration.milliseconds(250)
  /// The time for which an index counts as up to date, and the maximum time to wait for an update.
  private static let lifetime = Duration.seconds(2)
  private static let longest = Duration.seconds(10)

  init(_ finder: FolderFinder, _ workers: ThreadPool) { (self.finder, self.workers) = (finder, workers) }

  func stop() {
    let crawl = state.update { state in
      state.isStopped = true
      return state.crawl
    }
    crawl?.stop()
  }

  /// Returns the latest queries of a user, the most recent first.
  func latest(of reader: FindReader) -> [FileName] { state.read { $0.latest[reader.user] ?? [] } }

  func note(_ query: FileName, of reader: FindReader) {
    state.change { state in
      var latest = state.latest[reader.user] ?? []
      latest.removeAll { $0 == query }
      latest.insert(query, at: 0)
      if latest.count > Self.latestAtMost { latest.removeLast() }
      if state.latest.count > Self.usersAtMost { state.latest = [:] }
      state.latest[reader.user] = latest
    }
  }

  /// Returns the results of a query: the known ones, unless `isNew`, or those of an index that is brought up to date
  /// before as far as possible in ten seconds. Throws an unsupported fault for an invalid query. Blocks.
  func results(
    _ text: [UInt8], for reader: FindReader, isNew: Bool, _ blocking: BlockingMode
  ) throws(Fault) -> Results {
    let key = Key(query: text, rights: reader.rights)
    if let known = state.read({ $0.known[key] }), !isNew || .now - known.at < Self.lifetime {
      if !reader.isOther { return known }
      if blocking == .immediate { throw .later }
      if try finder.mayRead(known.hits, reader) { return known }
    }
    let query = try FindQuery(String(decoding: text, as: UTF8.self))
    if blocking == .immediate { throw .later }
    let start = ContinuousClock.now
    defer { if reader.isOther { pause(from: start) } }
    begin()
    let end = ContinuousClock.now + Self.longest
    while state.take(within: .milliseconds(100), { $0.isUpdating ? nil : () }) == nil, .now < end {
      try CancellationToken.check()
    }
    let percent = state.read { state in
      state.isUpdating ? min(99, state.crawl?.reach.percent ?? 0) : state.isComplete ? nil : 0
    }
    let before = finder.replacements
    let found = try forgettingIfDamaged { () throws(Fault) in try finder.results(query, for: reader) }
    var hits: [FolderFinder.Hit] = []
    for number in found.numbers {
      if hits.count == Self.most { break }
      try CancellationToken.check()
      if let hit = try finder.hit(number, query) { hits.append(hit) }
    }
    if finder.replacements != before { try forgettingIfDamaged { () throws(Fault) in throw .noDocumentIndex } }
    let results = Results(
      query: query, hits: hits, count: query.isCompared ? hits.count : found.numbers.count,
      percent: reader.isOther ? percent.map { _ in 0 } : percent,
      suggestion: found.suggestion, at: .now)
    state.change { state in
      if state.known.count >= Self.knownAtMost, let oldest = state.known.min(by: { $0.value.at < $1.value.at }) {
        state.known[oldest.key] = nil
      }
      state.known[key] = results
    }
    return results
  }

  /// Waits until the time from `start` is a multiple of `step`.
  private func pause(from start: ContinuousClock.Instant) {
    let count = Int((ContinuousClock.now - start) / Self.step) + 1
    let end = start + Self.step * count
    while .now < end, !(CancellationToken.current?.isLost ?? false) {
      _ = state.take(within: end - .now) { _ -> Void? in nil }
    }
  }

  /// Returns the result of `body`. If the index is damaged, the next search brings the new one up to date.
  private func forgettingIfDamaged<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    do throws(Fault) { return try body() } catch {
      if error == .noDocumentIndex { state.change { $0.isComplete = false } }
      throw error
    }
  }

  /// Starts an update, unless one is in progress or has just ended.
  private func begin() {
    let isDue = state.update { state in
      if state.isUpdating || state.isStopped { return false }
      if state.isComplete, let last = state.updatedAt, .now - last < Self.lifetime { return false }
      state.isUpdating = true
      return true
    }
    guard isDue else { return }
    workers.submit { [self] in
      var isComplete = false
      let before = finder.replacements
      if let (crawl, lock) = finder.crawl() {
        state.update { $0.crawl = crawl }
        if !state.read({ $0.isStopped }) {
          crawl.run(atATime: FolderCrawl.usualWidth, niceness: FolderCrawl.niceness, isQuick: true)
        }
        // A damaged index was replaced by an empty one.
        isComplete = crawl.reach.fault == nil && crawl.reach.isDone && finder.replacements == before
        withExtendedLifetime(lock) {}
      }
      state.update { [isComplete] state in
        (state.isUpdating, state.crawl) = (false, nil)
        (state.isComplete, state.updatedAt) = (isComplete, .now)
      }
    }
  }
}

extension FindReader {
  /// The user. `nil` for this process.
  fileprivate var user: UInt32? { if case .user(let caller, _) = self { caller.user } else { nil } }

  /// Identifies the rights. `nil` for those of this process.
  fileprivate var rights: UInt64? { if case .user(let caller, _) = self { caller.identity } else { nil } }
}
