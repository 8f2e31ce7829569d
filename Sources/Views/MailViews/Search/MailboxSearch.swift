internal import Bytes
internal import Files
internal import Index
internal import Locks
internal import Mail
internal import Queries
internal import Threads
internal import Tree

/// The queries of one mailbox: cached results, and the latest queries.
final class MailboxSearch: Sendable {
  typealias Outcome = Result<SearchResults, SearchQuery.ParseError>

  let words: SourceWords
  private unowned let sorted: SortedMailbox
  private let known: LRUCache<FileName, Known>
  private let noted = UnfairLock(LatestQueries())
  private let waiters: SearchWaiters
  /// The maximum time that a query waits for its complete result.
  private let limit: Duration

  private struct Known: Sendable {
    let outcome: Outcome
    /// The time of the result on the monotonic clock, in nanoseconds.
    let at: UInt64
  }

  /// The cache's capacity for results, in bytes.
  private static let roomForResults = 4 << 20
  /// The time for which a partial result is valid, in nanoseconds.
  private static let lifetime: UInt64 = 1_000_000_000

  init(_ sorted: SortedMailbox, in mailboxes: Mailboxes) {
    self.sorted = sorted
    words = SourceWords(sorted.mailbox, in: mailboxes)
    waiters = mailboxes.searchWaiters
    limit = mailboxes.pace.blocking
    known = LRUCache(capacity: Self.roomForResults, mailboxes.memory)
  }

  /// The latest queries of the user of the current request, most recent first.
  var latest: [FileName] { noted.withLock { $0.of(LatestQueries.user) } }

  func note(_ query: FileName) { noted.withLock { $0.note(query, of: LatestQueries.user) } }

  /// Returns the results of a query: complete, or as far as available at the timeout. Missing words are added in the
  /// background meanwhile.
  ///
  /// `part` is the condition under which a cached partial result is sufficient. Blocks. Throws an interrupted fault if
  /// cancelled.
  func results(_ query: FileName, part: Part, _ blocking: BlockingMode) throws(Fault) -> Outcome {
    if let known = known[query] {
      switch known.outcome {
      case .success(let results) where results.searched != nil && !isGood(known, part): break
      default: return known.outcome
      }
    }
    guard let text = String(validating: query.bytes, as: UTF8.self) else {
      return .failure(SearchQuery.ParseError(reason: "it is not text in UTF-8"))
    }
    let parsed: SearchQuery
    do throws(SearchQuery.ParseError) { parsed = try SearchQuery(text) } catch { return .failure(error) }
    if blocking == .immediate { throw .later }
    let results = try waiters.waits { mayWait throws(Fault) in
      try found(parsed, within: .after(mayWait ? limit : .zero))
    }
    known.insert(Known(outcome: .success(results), at: monotonicNanoseconds()), for: query, cost: results.size)
    return .success(results)
  }

  /// The condition for a cached partial result to be sufficient.
  enum Part {
    case never
    /// If it is recent.
    case justNow
    /// Until all words are indexed.
    case untilDone
  }

  private func isGood(_ known: Known, _ part: Part) -> Bool {
    let isRecent = monotonicNanoseconds() &- known.at < Self.lifetime
    return part != .never && (isRecent || (part == .untilDone && !words.reach.isDone))
  }

  /// Returns the last partial result of a query. Returns `nil` if the last was complete or is no longer cached. O(1).
  func part(_ query: FileName) -> SearchResults? {
    guard case .success(let results) = known[query]?.outcome, results.searched != nil else { return nil }
    return results
  }

  /// Returns the results of a parsed query. Blocks.
  func found(
    _ query: SearchQuery, within limit: WaitLimit, listingAtMost listed: Int = SearchResults.listedAtMost
  ) throws(Fault) -> SearchResults {
    for _ in 0..<Self.attempts {
      do throws(Fault) {
        guard let sources = try sources(for: query, within: limit) else {
          return SearchResults(noneOf: sorted.mailbox.reach.messages)
        }
        return try SearchResults(query, in: sources, listingAtMost: listed)
      } catch { if error != .noTextIndex { throw error } }
    }
    throw .noTextIndex
  }

  /// The maximum number of attempts with damaged text indexes.
  private static let attempts = 3

  /// Returns the data for evaluating a query that is available at the timeout, or before. Returns `nil` if not even all
  /// messages have been found.
  private func sources(
    for query: SearchQuery, within limit: WaitLimit
  ) throws(Fault) -> SearchResults.Sources? {
    let mailbox = sorted.mailbox
    let expressions = query.expressions
    var found: SourceWords.Found?
    if query.needsBodies {
      found = try words.texts(within: limit)
      if found == nil { return nil }
    }
    guard let messages = try limit.attempt({ () throws(Fault) in try mailbox.count(.blocking) }) else { return nil }
    let facts = try sorted.facts()
    var reach = messages
    var headers: HeaderSearch.Hits?
    if query.needsBodies {
      reach = found?.reach ?? 0
    } else if !expressions.isEmpty {
      found = try words.textsKept()
      let hits = try HeaderSearch(mailbox: mailbox, expressions: expressions)
        .hits(from: found?.reach ?? 0, to: messages, within: limit)
      reach = hits.reach
      headers = hits
    }
    var attachments: MessageGroups?
    if query.needsAttachments {
      attachments = try limit.attempt { () throws(Fault) in try sorted.groups(.attachments, .blocking) }
      if attachments == nil {
        let (looked, found) = sorted.attachments.part
        reach = min(reach, looked)
        attachments = MessageGroups(single: found)
      }
    }
    return SearchResults.Sources(
      facts: facts,
      words: { [found, headers] expression throws(Fault) in
        let behind = headers?.positions[expression] ?? []
        guard let found else { return behind }
        guard let positions = found.positions(matching: expression) else { throw .noTextIndex }
        return positions + behind
      },
      groups: { [sorted, attachments] sorting throws(Fault) in
        if sorting == .attachments, let attachments { return attachments }
        return try sorted.groups(sorting, .blocking)
      }, reach: reach)
  }
}
