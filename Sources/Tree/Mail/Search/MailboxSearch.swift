internal import Bytes
internal import Files
internal import Mail
internal import Synchronization
internal import Threads

/// Queries to one mailbox: their results for a while, and which came last.
final class MailboxSearch: Sendable {
  typealias Outcome = Result<SearchResults, SearchQuery.Mistake>

  let words: TextSearch
  private unowned let sorted: SortedMailbox
  private let known: RecentlyUsed<FileName, Known>
  private let noted = Mutex<[FileName]>([])

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
  /// So long a query waits for words that are still missing: those of a small mailbox are all there by then.
  private static let patience = Duration.seconds(3)

  init(_ sorted: SortedMailbox, in mailboxes: Mailboxes) {
    self.sorted = sorted
    words = TextSearch(sorted.mailbox, in: mailboxes)
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

  /// What a query finds. Words that are missing are added in the background; it waits for them, but not for long.
  func results(_ query: FileName, _ patience: Patience) throws(Fault) -> Outcome {
    if let known = known[query] {
      let isFresh = monotonicNanoseconds() &- known.at < Self.lifetime
      switch known.outcome {
      case .success(let results) where results.searched != nil && !isFresh: break
      default: return known.outcome
      }
    }
    guard let text = String(validating: query.bytes, as: UTF8.self) else {
      return .failure(SearchQuery.Mistake(reason: "it is no text in UTF-8"))
    }
    let parsed: SearchQuery
    do throws(SearchQuery.Mistake) { parsed = try SearchQuery(text) } catch { return .failure(error) }
    if patience == .immediate { throw .later }
    let results = try found(parsed, waitingAtMost: Self.patience)
    known.insert(Known(outcome: .success(results), at: monotonicNanoseconds()), for: query, cost: results.size)
    return .success(results)
  }

  /// The same of a query that has been read. Blocks.
  func found(
    _ query: SearchQuery, waitingAtMost limit: Duration, listingAtMost listed: Int = SearchResults.listedAtMost
  ) throws(Fault) -> SearchResults {
    let facts = try sorted.facts()
    let (index, searched) = try words.texts(waitingAtMost: limit)
    return try SearchResults(
      query, facts, index, searched: searched, listingAtMost: listed,
      groups: { sorting throws(Fault) in try sorted.groups(sorting, .blocking) })
  }
}
