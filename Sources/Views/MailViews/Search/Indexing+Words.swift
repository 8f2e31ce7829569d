package import Bytes
internal import Index
internal import Mail
internal import Queries
internal import Tree

/// Background work with progress.
package protocol BackgroundWork: Sendable {
  /// The size of the file, in bytes.
  var size: Int64 { get }
  /// The progress: bytes, messages, and whether it is over.
  var reach: (bytes: Int64, messages: Int, isDone: Bool) { get }
  /// The fault that ended it before the file's end, if any.
  var fault: Fault? { get }
  /// Whether the results are stored for the next mount.
  var isKept: Bool { get }
}

extension Indexing.Search: BackgroundWork {}

extension Indexing {
  /// A parsed search query.
  package struct Query: Sendable {
    let parsed: SearchQuery

    /// The syntax, as the end of a sentence that starts with `A query is`.
    package static let syntax = SearchQuery.syntax

    /// Parses a query. Throws an unsupported fault that names the mistake.
    package init(_ text: String) throws(Fault) {
      do throws(SearchQuery.ParseError) { parsed = try SearchQuery(text) } catch {
        throw Fault(.unsupported, error.reason)
      }
    }
  }

  /// A matching message.
  package struct Hit: Sendable {
    /// The path of its directory in a mount, starting with the mailbox's directory.
    package var path: String
    /// The date, in seconds since 1970. Nil if the message has none.
    package var date: Int64?
    /// The zone of the date, in minutes east of Greenwich.
    package var zone: Int
    /// The name or else the address, and the address. Each may be empty.
    package var sender: String
    package var address: String
    package var subject: String
    /// The size, in bytes.
    package var size: Int64
  }

  /// The indexing of a mailbox's words, with its progress.
  package final class Words: BackgroundWork {
    private let sorted: SortedMailbox

    fileprivate init(_ sorted: SortedMailbox) { self.sorted = sorted }

    package var size: Int64 { sorted.file.attributes.size }
    package var reach: (bytes: Int64, messages: Int, isDone: Bool) {
      let reach = sorted.search.words.reach
      return (reach.bytes, reach.count, reach.isDone || reach.fault != nil)
    }
    package var fault: Fault? { sorted.search.words.reach.fault }
    package var isKept: Bool { sorted.search.words.isKept }
  }

  /// Starts to index a mailbox's words. Blocks until its messages and their facts have been found.
  package func words(of search: Search) throws(Fault) -> Words {
    let sorted = mailboxes.sorted(search.mailbox)
    _ = try sorted.search.words.texts(within: .after(.zero))
    _ = try sorted.facts()
    return Words(sorted)
  }

  /// Calls `body` with each message of a mailbox that matches a query, newest first. Blocks until all have been
  /// searched.
  package func find(_ query: Query, in search: Search, _ body: (Hit) -> Void) throws(Fault) {
    let mail = MailSearch(mailboxes.sorted(search.mailbox))
    let results = try mail.results(query)
    for number in 0..<results.count {
      if let hit = try mail.hit(number, of: results) { body(hit) }
    }
  }
}
