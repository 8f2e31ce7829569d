internal import Bytes
internal import Files
internal import Index
internal import Mail
internal import Synchronization
internal import Threads
internal import Tree

/// Queries to one mailbox: their results for a while, and which came last.
final class MailboxSearch: Sendable {
  typealias Outcome = Result<SearchResults, SearchQuery.Mistake>

  let words: TextSearch
  private unowned let sorted: SortedMailbox
  private let known: RecentlyUsed<FileName, Known>
  private let noted = Mutex<[FileName]>([])
  private let waiters: SearchWaiters
  /// So long a query waits for all of its answer.
  private let limit: Duration

  private struct Known: Sendable {
    let outcome: Outcome
    /// Of the monotonic clock, in nanoseconds.
    let at: UInt64
  }

  private static let notedAtMost = 10
  /// For results, in bytes.
  private static let roomForResults = 4 << 20
  /// What comes while words are still added is right for so long, in nanoseconds.
  private static let lifetime: UInt64 = 1_000_000_000

  init(_ sorted: SortedMailbox, in mailboxes: Mailboxes) {
    self.sorted = sorted
    words = TextSearch(sorted.mailbox, in: mailboxes)
    waiters = mailboxes.searchWaiters
    limit = mailboxes.pace.patience
    known = RecentlyUsed(capacity: Self.roomForResults, mailboxes.memory)
  }

  /// The queries that were opened last, the last one first.
  var latest: [FileName] { noted.withLock { $0 } }

  func note(_ query: FileName) {
    noted.withLock { noted in
      noted.removeAll { $0 == query }
      noted.insert(query, at: 0)
      if noted.count > Self.notedAtMost { noted.removeLast() }
    }
  }

  /// What a query finds: all of it, or what there is after a while. Words that are missing are added in the background
  /// meanwhile.
  ///
  /// `part` says when what was found of a part of the messages does. Blocks. Throws an interrupted fault when nobody waits
  /// any more.
  func results(_ query: FileName, part: Part, _ patience: Patience) throws(Fault) -> Outcome {
    if let known = known[query] {
      switch known.outcome {
      case .success(let results) where results.searched != nil && !isGood(known, part): break
      default: return known.outcome
      }
    }
    guard let text = String(validating: query.bytes, as: UTF8.self) else {
      return .failure(SearchQuery.Mistake(reason: "it is no text in UTF-8"))
    }
    let parsed: SearchQuery
    do throws(SearchQuery.Mistake) { parsed = try SearchQuery(text) } catch { return .failure(error) }
    if patience == .immediate { throw .later }
    let results = try waiters.waits { mayWait throws(Fault) in
      try found(parsed, within: .after(mayWait ? limit : .zero))
    }
    known.insert(Known(outcome: .success(results), at: monotonicNanoseconds()), for: query, cost: results.size)
    return .success(results)
  }

  /// When what was found of a part of the messages is good enough.
  enum Part {
    case never
    /// When it was found just now.
    case justNow
    /// As long as not all words are known to be in.
    case untilDone
  }

  private func isGood(_ known: Known, _ part: Part) -> Bool {
    let isRecent = monotonicNanoseconds() &- known.at < Self.lifetime
    return part != .never && (isRecent || (part == .untilDone && !words.reach.isDone))
  }

  /// What was found of a part of the messages when a query was asked last; nil when that was all, or is forgotten. O(1).
  func part(_ query: FileName) -> SearchResults? {
    guard case .success(let results) = known[query]?.outcome, results.searched != nil else { return nil }
    return results
  }

  /// The same of a query that has been read. Blocks.
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

  /// So often words may be found to be damaged.
  private static let attempts = 3

  /// What is known for a query's answer when the time is up, or before; nil when not even all messages have been found.
  private func sources(
    for query: SearchQuery, within limit: WaitLimit
  ) throws(Fault) -> SearchResults.Sources? {
    let mailbox = sorted.mailbox
    let expressions = query.expressions
    var found: TextSearch.Found?
    if query.needsBodies {
      found = try words.texts(within: limit)
      if found == nil { return nil }
    }
    guard let messages = try limit.attempt({ () throws(Fault) in try mailbox.count(.blocking) }) else { return nil }
    let facts = try sorted.facts()
    var reach = messages
    var headers: HeaderSearch.Hits?
    if query.needsBodies {
      reach = found?.count ?? 0
    } else if !expressions.isEmpty {
      found = try words.textsKept()
      let hits = try HeaderSearch(mailbox: mailbox, expressions: expressions)
        .hits(from: found?.count ?? 0, to: messages, within: limit)
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
        guard let numbers = found.index.numbers(matching: expression, among: found.count) else { throw .noTextIndex }
        return numbers.prefix { $0 < found.count } + behind
      },
      groups: { [sorted, attachments] sorting throws(Fault) in
        if sorting == .attachments, let attachments { return attachments }
        return try sorted.groups(sorting, .blocking)
      }, reach: reach)
  }
}
