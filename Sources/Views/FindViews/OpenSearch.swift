internal import Bytes
internal import Threads
internal import Tree

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
    /// The number of callers that wait for the update.
    var waiters = 0
    /// Whether a caller was answered before the update has ended. It then continues without waiters.
    var isContinued = false
    /// Whether the last waiter has been cancelled.
    var isAbandoned = false
    var isStopped = false
    /// The end of the last update. `nil` before the first.
    var updatedAt: ContinuousClock.Instant?
    /// Whether the last update read everything.
    var isComplete = false
    /// The reason why the last update failed. `nil` if it did not.
    var obstacle: Fault?
    /// The part of an index of several machines that is there, in percent.
    var publishedPercent = 0
    var known: [Key: Results] = [:]
    var latest = LatestQueries()
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
    /// The reason why results are missing that later listings may not have, either. `nil` if there is none.
    let fault: Fault?
    let at: ContinuousClock.Instant
  }

  /// The maximum number of results in a folder.
  static let most = 500
  private static let knownAtMost = 64
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
  func latest(of reader: FindReader) -> [FileName] { state.read { $0.latest.of(reader.owner.user) } }

  func note(_ query: FileName, of reader: FindReader) {
    state.change { $0.latest.note(query, of: reader.owner.user) }
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
      locked: page.locked, fault: page.obstacle ?? page.unread.fault, at: .now)
    state.change { state in
      if state.known.count >= Self.knownAtMost, let oldest = state.known.min(by: { $0.value.at < $1.value.at }) {
        state.known[oldest.key] = nil
      }
      state.known[key] = results
    }
    return results
  }

  /// Returns a result of the last answer to a query, by its index, and the number of results. Returns `nil` if the process
  /// may not read it now. Other results are not examined: a listing is followed by a lookup of each. Blocks.
  func knownHit(
    _ text: [UInt8], _ index: Int, for reader: FindReader
  ) throws(Fault) -> (hit: FolderFinder.Hit, count: Int)? {
    let key = Key(query: text, rights: reader.rights)
    guard let hits = state.read({ $0.known[key]?.hits }), hits.indices.contains(index) else { return nil }
    if reader.isOther, try !finder.mayRead([hits[index]], reader) { return nil }
    return (hits[index], hits.count)
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
    let unread = UnreadDocuments()
    let (found, locked) = try forgettingIfDamaged { () throws(Fault) in
      (try finder.results(query, for: reader, below: folder, unread), try finder.locked(for: reader, below: folder))
    }
    var hits: [FolderFinder.Hit] = []
    var place = start
    while place < found.numbers.count, hits.count < count {
      if let end, !hits.isEmpty, .now > end { break }
      try CancellationToken.check()
      if let hit = try finder.hit(found.numbers[place], query, unread) { hits.append(hit) }
      place += 1
    }
    // The part is the last one if no further candidate matches.
    while place < found.numbers.count, end.map({ .now < $0 }) ?? true,
      try finder.hit(found.numbers[place], query, withSnippet: false, unread) == nil
    {
      try CancellationToken.check()
      place += 1
    }
    if finder.replacements != before { try forgettingIfDamaged { () throws(Fault) in throw .noDocumentIndex } }
    return FoundPage(
      hits: hits, count: query.isCompared ? nil : found.numbers.count,
      next: place < found.numbers.count ? place : nil, percent: percent, suggestion: found.suggestion, locked: locked,
      unread: unread, obstacle: state.read { $0.isUpdating ? nil : $0.obstacle })
  }

  /// Brings the index up to date as far as possible in `limit`. Returns the percentage that is searched. Returns `nil` if
  /// everything is.
  private func update(within limit: Duration) throws(Fault) -> Int? {
    state.change { $0.waiters += 1 }
    begin()
    let end = ContinuousClock.now + limit
    let interval = min(limit, .milliseconds(100))
    do throws(Fault) {
      while state.take(within: interval, { $0.isUpdating || $0.isWanted ? nil : () }) == nil, .now < end {
        try CancellationToken.check()
      }
    } catch {
      abandon()
      throw error
    }
    return state.update { state in
      state.waiters -= 1
      let isUpdating = state.isUpdating || state.isWanted
      if isUpdating { state.isContinued = true }
      return isUpdating
        ? min(99, state.crawl?.reach.percent ?? 0) : state.isComplete ? nil : min(99, state.publishedPercent)
    }
  }

  /// Ends the wait of a cancelled caller, and the update, or the one that is to follow, if nothing else needs it.
  private func abandon() {
    let crawl = state.update { state -> FolderCrawl? in
      state.waiters -= 1
      guard state.waiters == 0, !state.isContinued else { return nil }
      state.isWanted = false
      guard state.isUpdating, !state.isGentle else { return nil }
      state.isAbandoned = true
      return state.crawl
    }
    crawl?.stop()
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
    updateIfWanted()
  }

  /// Starts the update that is to follow, if any. The last one has ended.
  private func updateIfWanted() {
    guard state.read({ $0.isWanted }) else { return }
    begin()
    state.update { $0.isWanted = false }
  }

  /// Starts an update, unless one is in progress or has just ended.
  private func begin() {
    let isDue = state.update { state in
      if state.isUpdating, state.isGentle || state.isAbandoned {
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
    workers.submit { [self] in
      update(nil)
      updateIfWanted()
    }
  }

  /// Brings the index up to date. `isUpdating` has been set.
  private func update(_ isPermitted: (@Sendable () -> Bool)?) {
    var isComplete = false
    var obstacle: Fault?
    let before = finder.replacements
    if let (crawl, lock) = finder.crawl(isPermitted: isPermitted) {
      let isStopped = state.update { state in
        state.crawl = crawl
        return state.isStopped || state.isAbandoned || state.isWanted && state.isGentle
      }
      if !isStopped {
        crawl.run(
          atATime: isPermitted == nil ? FolderCrawl.usualWidth : 1, niceness: FolderCrawl.niceness, isQuick: true)
      }
      // A damaged index was replaced by an empty one.
      isComplete = crawl.reach.fault == nil && crawl.reach.isDone && finder.replacements == before
      obstacle = crawl.reach.fault.flatMap { $0.isDelay ? nil : $0 }
      withExtendedLifetime(lock) {}
    }
    state.update { [isComplete, obstacle] state in
      (state.isUpdating, state.crawl, state.obstacle) = (false, nil, obstacle)
      (state.isComplete, state.updatedAt) = (isComplete, .now)
      (state.isGentle, state.isContinued, state.isAbandoned) = (false, false, false)
    }
  }
}

extension FindReader {
  /// Identifies the rights. `nil` for those of this process.
  fileprivate var rights: UInt64? { if case .user(let caller, _) = self { caller.identity } else { nil } }
}
