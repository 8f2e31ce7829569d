package import Bytes
internal import Index
internal import Mail
internal import Tree

/// What goes on in the background and can be waited for.
package protocol BackgroundWork: Sendable {
  /// Of the file, in bytes.
  var size: Int64 { get }
  /// How far it has come: bytes, messages, and whether it is over.
  var reach: (bytes: Int64, messages: Int, isDone: Bool) { get }
  /// What ended it before the file's end.
  var fault: Fault? { get }
  /// Whether the next mount will find what was found.
  var isKept: Bool { get }
}

extension Indexing.Search: BackgroundWork {}

extension Indexing {
  /// What is looked for.
  package struct Query: Sendable {
    fileprivate let parsed: SearchQuery

    /// Throws an unsupported fault that says what is wrong.
    package init(_ text: String) throws(Fault) {
      do throws(SearchQuery.Mistake) { parsed = try SearchQuery(text) } catch {
        throw Fault(.unsupported, error.reason)
      }
    }

    /// Whether messages' texts have to be known: an answer then waits for an index of their words.
    package var needsWords: Bool { parsed.needsBodies }
  }

  /// A message that was found.
  package struct Hit: Sendable {
    /// Of its folder in a mount, from the mailbox's own folder on.
    package var path: String
    /// In seconds since 1970; nil where the message has none.
    package var date: Int64?
    /// In which the date is written, in minutes east of Greenwich.
    package var zone: Int
    /// The name or else the address, and the address; each perhaps empty.
    package var sender: String
    package var address: String
    package var subject: String
    /// In bytes.
    package var size: Int64
  }

  /// A mailbox whose words are being put into its text index.
  package final class Words: BackgroundWork {
    private let sorted: SortedMailbox

    fileprivate init(_ sorted: SortedMailbox) { self.sorted = sorted }

    package var size: Int64 { sorted.file.attributes.size }
    package var reach: (bytes: Int64, messages: Int, isDone: Bool) {
      let reach = sorted.search.words.reach
      return (reach.bytes, reach.count, reach.isDone || reach.fault != nil)
    }
    package var fault: Fault? { sorted.search.words.reach.fault }
    package var isKept: Bool { sorted.search.words.reach.isKept }
  }

  /// Begins to put the words of a mailbox into its text index. Blocks until its messages have been found and what else is
  /// asked of them has.
  package func words(of search: Search) throws(Fault) -> Words {
    let sorted = mailboxes.sorted(search.mailbox.file.source)
    _ = try sorted.search.words.texts(within: .after(.zero))
    _ = try sorted.facts()
    return Words(sorted)
  }

  /// Calls `body` with each message of a mailbox for which a query holds, newest first. Blocks until all have been searched.
  package func find(_ query: Query, in search: Search, _ body: (Hit) -> Void) throws(Fault) {
    let sorted = mailboxes.sorted(search.mailbox.file.source)
    let results = try sorted.search.found(query.parsed, within: .none, listingAtMost: .max)
    for position in results.positions {
      guard let row = try sorted.mailbox.row(at: Int(position), .blocking) else { continue }
      let name = row.folderName(position: Int(position) + 1)
      let folder = sorted.file.source.name.appending(MessagesView.suffix)
      body(
        Hit(
          path: "\(folder.text)/\(name.text)", date: row.date, zone: row.zone, sender: row.shownSender,
          address: row.address, subject: row.shownSubject, size: row.size))
    }
  }
}
