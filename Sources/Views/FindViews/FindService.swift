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
    func folder(_ recognizesText: Bool) throws(Fault) -> ResolvedPath {
      guard let tree = try trees?.tree(recognizesText: recognizesText) else { throw .noDocumentIndex }
      return try waiting { () throws(Fault) in try ResolvedPath.find(path, in: tree, followsLast: false, .blocking) }
    }
    let plain = try folder(false)
    let isRecognized =
      recognizesText || FolderFinder.hasRecognizedText(plain, of: file.map(\.file), index, shared: shared)
    let place = Place(path: path, recognizesText: isRecognized)
    if part == nil, let known = temporary.withLock({ $0[place] }) { return known }
    let made = try FolderFinder(
      isRecognized ? folder(true) : plain, index: index, readsPictures: isRecognized,
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

/// A part of the documents that match a query.
package struct FoundPage: Sendable {
  package let hits: [FolderFinder.Hit]
  /// The total number of documents that match. `nil` if that is not known without reading them.
  package let count: Int?
  /// The `start` of the next part. `nil` after the last one.
  package let next: Int?
  /// The percentage that is searched. `nil` if everything is.
  package let percent: Int?
  /// A query with a known word, if nothing matches. `nil` if there is none.
  package let suggestion: String?
  /// The files of which only the names are searched, whether they match or not.
  package let locked: FolderFinder.Locked

  package init(
    hits: [FolderFinder.Hit], count: Int?, next: Int?, percent: Int?, suggestion: String?,
    locked: FolderFinder.Locked = FolderFinder.Locked()
  ) {
    (self.hits, self.count, self.next, self.percent, self.suggestion) = (hits, count, next, percent, suggestion)
    self.locked = locked
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

/// The search of one folder in a tree: its index, the work on it, and the latest results.
final class OpenSearch: Sendable {
  private let finder: FolderFinder
  private let workers: ThreadPool
  private let state = Monitor(State())
  private let openedAt = ContinuousClock.now

  private struct State: Sendable {
    var crawl: FolderCrawl?
    var isUpdating = false
    /// Whether the update in progress yields to other work.
    var isGentle = false
    /// Whether an update that does not yield is to follow.
    var isWanted = false
    var isStopped = false
    /// The end of the last update. `nil` before the first.
    var updatedAt: ContinuousClock.Instant?
    /// Whether the last update read everything.
    var isComplete = false
    /// The part of an index of several machines that is there, in percent.
    var publishedPercent = 0
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
    let locked: FolderFinder.Locked
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

  /// Whether parts of the index that were missing may be there now.
  var hasExpired: Bool {
    guard let percent = finder.publishedPercent, percent < 100 else { return false }
    return .now - openedAt > Self.lifetime
  }

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
    let page = try page(of: query, for: reader, atMost: Self.most, within: Self.longest)
    let results = Results(
      query: query, hits: page.hits, count: page.count ?? page.hits.count,
      percent: reader.isOther ? page.percent.map { _ in 0 } : page.percent, suggestion: page.suggestion,
      locked: page.locked,
      at: .now)
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

  /// Returns a part of the documents that match and that a process may read now, by an index that is brought up to date
  /// before as far as possible in `limit`. Throws if the index is damaged. Blocks.
  ///
  /// - Parameters:
  ///   - folder: the path of a folder, below which the documents are. Empty for all.
  ///   - start: the number of documents that match before the part.
  ///   - end: the time at which no further documents are read.
  func page(
    of query: FindQuery, for reader: FindReader = .process, below folder: [UInt8] = [], from start: Int = 0,
    atMost count: Int, within limit: Duration, until end: ContinuousClock.Instant? = nil
  ) throws(Fault) -> FoundPage {
    let percent = try update(within: limit)
    let before = finder.replacements
    let (found, locked) = try forgettingIfDamaged { () throws(Fault) in
      (try finder.results(query, for: reader, below: folder), try finder.locked(for: reader, below: folder))
    }
    var hits: [FolderFinder.Hit] = []
    var place = start
    while place < found.numbers.count, hits.count < count {
      if let end, !hits.isEmpty, .now > end { break }
      try CancellationToken.check()
      if let hit = try finder.hit(found.numbers[place], query) { hits.append(hit) }
      place += 1
    }
    // The part is the last one if no further candidate matches.
    while place < found.numbers.count, end.map({ .now < $0 }) ?? true,
      try finder.hit(found.numbers[place], query, withSnippet: false) == nil
    {
      try CancellationToken.check()
      place += 1
    }
    if finder.replacements != before { try forgettingIfDamaged { () throws(Fault) in throw .noDocumentIndex } }
    return FoundPage(
      hits: hits, count: query.isCompared ? nil : found.numbers.count,
      next: place < found.numbers.count ? place : nil, percent: percent, suggestion: found.suggestion, locked: locked)
  }

  /// Brings the index up to date as far as possible in `limit`. Returns the percentage that is searched. Returns `nil` if
  /// everything is.
  private func update(within limit: Duration) throws(Fault) -> Int? {
    begin()
    let end = ContinuousClock.now + limit
    let interval = min(limit, .milliseconds(100))
    while state.take(within: interval, { $0.isUpdating || $0.isWanted ? nil : () }) == nil, .now < end {
      try CancellationToken.check()
    }
    return state.read { state in
      state.isUpdating || state.isWanted
        ? min(99, state.crawl?.reach.percent ?? 0) : state.isComplete ? nil : min(99, state.publishedPercent)
    }
  }

  /// Returns the result of `body`. If the index is damaged, the next search brings the new one up to date.
  private func forgettingIfDamaged<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    do throws(Fault) { return try body() } catch {
      if error == .noDocumentIndex { state.change { $0.isComplete = false } }
      throw error
    }
  }

  /// The progress of the update. `nil` if none is in progress.
  var progress: FolderCrawl.Progress? { state.read { $0.isUpdating ? $0.crawl?.reach : nil } }

  /// Brings the index up to date, file by file, whenever `isPermitted` returns true. Ends as soon as a search needs the
  /// index. Blocks.
  func updateGently(_ isPermitted: @escaping @Sendable () -> Bool) {
    if finder.publishedPercent != nil { return }
    let isDue = state.update { state in
      if state.isUpdating || state.isStopped { return false }
      (state.isUpdating, state.isGentle, state.isWanted) = (true, true, false)
      return true
    }
    guard isDue else { return }
    update(isPermitted)
    let isWanted = state.update { state in
      state.isGentle = false
      return state.isWanted
    }
    guard isWanted else { return }
    begin()
    state.update { $0.isWanted = false }
  }

  /// Starts an update, unless one is in progress or has just ended.
  private func begin() {
    let isDue = state.update { state in
      if state.isUpdating, state.isGentle {
        state.isWanted = true
        state.crawl?.stop()
      }
      if state.isUpdating || state.isStopped { return false }
      if state.isComplete, let last = state.updatedAt, .now - last < Self.lifetime { return false }
      state.isUpdating = true
      return true
    }
    guard isDue else { return }
    if let percent = finder.publishedPercent {
      return state.update { state in
        (state.isUpdating, state.isComplete, state.updatedAt) = (false, percent == 100, .now)
        state.publishedPercent = percent
      }
    }
    workers.submit { [self] in update(nil) }
  }

  /// Brings the index up to date. `isUpdating` has been set.
  private func update(_ isPermitted: (@Sendable () -> Bool)?) {
    var isComplete = false
    let before = finder.replacements
    if let (crawl, lock) = finder.crawl(isPermitted: isPermitted) {
      let isStopped = state.update { state in
        state.crawl = crawl
        return state.isStopped || state.isWanted && state.isGentle
      }
      if !isStopped {
        crawl.run(
          atATime: isPermitted == nil ? FolderCrawl.usualWidth : 1, niceness: FolderCrawl.niceness, isQuick: true)
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

extension FindReader {
  /// The user. `nil` for this process.
  fileprivate var user: UInt32? { if case .user(let caller, _) = self { caller.user } else { nil } }

  /// Identifies the rights. `nil` for those of this process.
  fileprivate var rights: UInt64? { if case .user(let caller, _) = self { caller.identity } else { nil } }
}
